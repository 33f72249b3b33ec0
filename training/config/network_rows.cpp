// SPDX-License-Identifier: Apache-2.0
#include "training/config/rows.hpp"
#include "training/models/registry.hpp"

namespace nudge {

ParamTable network_rows() {
  using param::choice;
  std::vector<std::string> networks;
  for (const NetworkKind& kind : network_kinds()) networks.push_back(kind.name);
  return {
      choice(
          "network.kind", "block", networks,
          "What settles. block: one node with a Hopfield memory and attention of its own state, the founding note's; "
          "stack: stack.layers such blocks, each clamped to the one below; "
          "transformer: layers as nodes, sized by transformer.*; hopfield, convolutional: layers above a sample, sized "
          "by hopfield.* and convolutional.*; resistive: layers of nodes joined by resistors, resistive.*; netlist: a "
          "circuit as a SPICE netlist draws it, netlist.*. "
          "What does "
          "not settle, on exact numbers "
          "by backprop: sequence_model: blocks of sequence.mixer; free_transformer: the same that reads latent bits, "
          "latent.*; argmax_read: one "
          "layer on task.kind = argmax."),
  };
}

}  // namespace nudge
