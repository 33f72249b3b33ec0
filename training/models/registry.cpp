// SPDX-License-Identifier: Apache-2.0
#include "training/models/registry.hpp"

#include <fmt/format.h>

#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"
#include "training/models/block/block_config.hpp"
#include "training/models/block/block_export.hpp"
#include "training/models/hopfield/hopfield_config.hpp"
#include "training/models/hopfield/hopfield_netlist.hpp"
#include "training/models/resistive/resistive_config.hpp"
#include "training/models/resistive/resistive_export.hpp"
#include "training/models/stack/stack_plan.hpp"
#include "training/models/transformer/transformer_config.hpp"
#include "training/models/transformer/transformer_netlist.hpp"

namespace nudge {

const std::vector<NetworkKind>& network_kinds() {
  const auto recurrent = [](const Config&) { return false; };
  static const std::vector<NetworkKind> kinds = {
      {"block", "one node with a Hopfield memory and attention of its own state, the founding note's", block_plan,
       block_leak, recurrent, true, nullptr, block_export()},
      {"stack", "founding blocks one above the other, each clamped to the one below", stack_plan, block_leak,
       recurrent},
      {"transformer", "layers as nodes that settle one after the other: its equilibrium is the forward pass",
       transformer_plan, transformer_leak, transformer_feeds_forward, true, nullptr, transformer_export()},
      {"hopfield", "layered Hopfield network of samples: layers above a clamped one, coupled both ways", hopfield_plan,
       hopfield_leak, hopfield_feeds_forward, false, hopfield_contrasts, hopfield_export()},
      {"convolutional", "the same with convolutions below its dense layers", convolutional_plan, hopfield_leak,
       hopfield_feeds_forward, false, hopfield_contrasts, hopfield_export()},
      {"resistive", "layers of nodes joined by resistors, with diodes and amplifiers: its conductances are the devices",
       resistive_plan, resistive_leak, recurrent, false, [](const Config&) { return true; },
       resistive_netlist_export()},
  };
  return kinds;
}

const NetworkKind& network_kind(const Config& config) {
  const std::string& name = config.text("network.kind");
  std::vector<std::string> names;
  for (const NetworkKind& kind : network_kinds()) {
    if (kind.name == name) return kind;
    names.push_back(kind.name);
  }
  throw UserError(fmt::format("network.kind = \"{}\" is unknown ({})", name, did_you_mean(name, names)));
}

Index coupled_rows(const Config& config) {
  return network_kind(config).couples_rows ? static_cast<Index>(config.integer("model.tokens")) : 1;
}

std::shared_ptr<const NetworkPlan> network_plan(const Config& config, const TaskSizes& task) {
  return network_kind(config).plan(config, task);
}

}  // namespace nudge
