// SPDX-License-Identifier: Apache-2.0
#include "training/config/rows.hpp"
#include "training/models/mixer_term.hpp"
#include "training/models/registry.hpp"

namespace nudge {

ParamTable model_rows() {
  using param::choice;
  using param::integer;
  using param::path;
  using param::real;
  const std::string recipe = "recipe of the prototype, tuned by hand on one seed";
  std::vector<std::string> mixers = force_mixers();
  mixers.insert(mixers.begin(), MixerChoice::fused);
  std::vector<std::string> networks;
  for (const NetworkKind& kind : network_kinds()) networks.push_back(kind.name);
  return {
      choice(
          "network.kind", "block", networks,
          "What settles. block: one node with a Hopfield memory and attention of its own state, the founding note's; "
          "stack: stack.layers such blocks, each clamped to the one below; "
          "transformer: layers as nodes, sized by transformer.*; hopfield, convolutional: layers above a sample, sized "
          "by hopfield.* and convolutional.*; resistive: layers of nodes joined by resistors, resistive.*."),
      path("model.weights", "",
           "Weights to start from instead of random ones, every parameter by its name in /parameters of a run file: "
           ".npz, "
           ".safetensors, or HDF5 such as a run file; the option --weights wins. A resumed run needs it again. Empty: "
           "random."),
      integer("model.channels", "64", between(1, 65536), "Channels C of the state; model.heads must divide it."),
      integer("model.tokens", "32", between(1, 65536), "Tokens T of a sequence, the context of the character model."),
      integer("model.memories", "256", between(0, 1048576),
              "Patterns M of the Hopfield memory, the columns of W_m; 0: no memory."),
      integer("model.memory_arrays", "1", between(1, 2),
              "1: the memory returns through the transposed read of its own devices; 2: through a second, separately "
              "programmed array, so that it is not reciprocal."),
      integer("model.heads", "4", between(1, 65536), "Attention heads H, each with C/H channels."),
      choice(
          "model.mixer", MixerChoice::fused, mixers,
          "The mixer of the non-conservative force s (Mixer(z) - c z). attention: multi-head softmax attention, fused "
          "with the memory's array; the others are the digital mixers of docs/mixers.md, sized by mixer.*."),
      real("model.attention_gain", "1.0", at_least(0),
           "Gain s of the force s (Mixer(z) - c z); 0 leaves a conservative network."),
      real("model.damping", "1.0", at_least(0), "Initial damping c; damping.control regulates it during training."),
      real("model.attention_scale", "0.6", at_least(0), "ga: W_q, W_k, W_v ~ N(0, ga^2/C).", recipe),
      real("model.output_scale", "0.6", at_least(0), "go: W_o ~ N(0, go^2/C).", recipe),
      real("model.memory_scale", "0.4", at_least(0),
           "gm: spectral norm that the random W_m is scaled to; 2 gm^2 < 1 + s c keeps the energy bounded below.",
           recipe),
      real("model.coupling_scale", "0", at_least(0),
           "gc: channels also drive each other through W_c = S (P + P')/2 + A (P - P')/2 with P ~ N(0, gc^2/C), "
           "trained like "
           "the rest; 0: no such coupling. Settles while every eigenvalue of W_c has a real part below 1 + s c."),
      real("model.coupling_symmetric", "1", any_number(), "S: gain of the reciprocal part of the initial W_c."),
      real("model.coupling_antisymmetric", "1", any_number(),
           "A: gain of the non-reciprocal part of the initial W_c; 0: a network with an energy, but for attention."),
      real("model.embedding_scale", "0.5", above(0), "Token and position embeddings ~ N(0, scale^2)."),
  };
}

}  // namespace nudge
