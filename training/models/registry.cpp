// SPDX-License-Identifier: Apache-2.0
#include "training/models/registry.hpp"

#include "sim/base/errors.hpp"
#include "sim/base/open_list.hpp"
#include "training/models/block/block_plan.hpp"
#include "training/models/hopfield/hopfield_config.hpp"
#include "training/models/layer_rates.hpp"
#include "training/models/layered_plan.hpp"
#include "training/models/netlist/netlist_plan.hpp"
#include "training/models/own/own_network.hpp"
#include "training/models/resistive/resistive_plan.hpp"
#include "training/models/stack/stack_plan.hpp"
#include "training/models/tapes/tape_kinds.hpp"
#include "training/models/transformer/transformer_config.hpp"

namespace nudge {

namespace {

OpenList<NetworkKind>& list() {
  const auto recurrent = [](const Config&) { return false; };
  static OpenList<NetworkKind> kinds(std::vector<NetworkKind>{
      {.name = "block",
       .summary = "one node with a Hopfield memory and attention of its own state",
       .plan = block_plan,
       .leak = block_leak,
       .feed_forward = recurrent,
       .lacks_layer_energy = block_lacks_energy,
       .mixer = block_mixer,
       .netlist = block_export(),
       .keys = block_keys()},
      {.name = "stack",
       .summary = "blocks above each other, each clamped to the one below",
       .plan = stack_plan,
       .leak = block_leak,
       .feed_forward = recurrent,
       .keys = stack_keys()},
      {.name = "transformer",
       .summary = "layers as nodes that settle one after the other: its equilibrium is the forward pass",
       .plan = transformer_plan,
       .leak = transformer_leak,
       .feed_forward = transformer_feeds_forward,
       .lacks_layer_energy = transformer_lacks_energy,
       .mixer = transformer_mixer,
       .netlist = transformer_export(),
       .keys = transformer_keys()},
      {.name = "hopfield",
       .summary = "layered Hopfield network of samples: layers above a clamped one, coupled both ways",
       .plan = hopfield_plan,
       .feed_forward = hopfield_feeds_forward,
       .states = hopfield_states,
       .couples_rows = false,
       .takes = Rows::features,
       .check = check_hopfield,
       .contrastive = hopfield_contrasts,
       .lacks_layer_energy = hopfield_lacks_energy,
       .netlist = hopfield_export(),
       .keys = hopfield_keys()},
      {.name = "convolutional",
       .summary = "the same with convolutions below its dense layers",
       .plan = convolutional_plan,
       .feed_forward = hopfield_feeds_forward,
       .states = hopfield_states,
       .couples_rows = false,
       .takes = Rows::features,
       .check = check_hopfield,
       .contrastive = hopfield_contrasts,
       .lacks_layer_energy = hopfield_lacks_energy,
       .netlist = hopfield_export(),
       .keys = convolutional_keys()},
      {.name = "resistive",
       .summary = "layers of nodes joined by resistors, with diodes and amplifiers: its conductances are the devices",
       .plan = resistive_plan,
       .leak = [](const Config&) { return NodeLeak{.constant = 0}; },
       .feed_forward = recurrent,
       .states = resistive_states,
       .couples_rows = false,
       .takes = Rows::features,
       .check = check_resistive,
       .contrastive = [](const Config&) { return true; },
       .netlist = resistive_netlist_export(),
       .keys = resistive_keys(),
       .bare = true},
      {.name = "netlist",
       .summary = "a circuit from a SPICE netlist, whose resistors and sources learn",
       .plan = netlist_plan,
       .leak = [](const Config&) { return NodeLeak{.constant = 0}; },
       .feed_forward = recurrent,
       .states = netlist_states,
       .couples_rows = false,
       .takes = Rows::features,
       .check = check_netlist_keys,
       .contrastive = netlist_contrasts,
       .keys = netlist_keys(),
       .bare = true,
       .not_local = "its elements learn by products of volts and amperes, for which correlator.* has no scale"},
      oscillator_network(),
      thermal_network(),
      predictive_network(),
      sequence_network(),
      free_transformer_network(),
      argmax_network(),
      own_network(),
  });
  return kinds;
}

}  // namespace

const std::vector<NetworkKind>& network_kinds() { return list().all(); }

void add_network_kind(NetworkKind kind) { list().add(std::move(kind)); }

const NetworkKind& network_kind(const Config& config) { return named(network_kinds(), config.text("network.kind")); }

Index coupled_rows(const Config& config) {
  return network_kind(config).couples_rows ? static_cast<Index>(config.integer("model.tokens")) : 1;
}

void check_kinds(const Config& config) {
  for (const auto check : {network_kind(config).check, task_kind(config).check}) {
    if (check != nullptr) check(config);
  }
}

void check_network(const Config& config, const TaskSizes& task) { static_cast<void>(count_weights(config, task)); }

Index count_weights(const Config& config, const TaskSizes& task) {
  const NetworkKind& kind = network_kind(config);
  if (kind.is_circuit()) return count_weights(*network_plan(config, task));
  Index count = 0;
  for (const Field& field : kind.tape.single(config, task)->fields()) count += field.rows() * field.cols();
  return count;
}

Index count_weights(const NetworkPlan& plan) {
  Index count = 0;
  for (const Parameter& p : plan.parameters()) count += p.shape.rows * p.shape.cols;
  return count;
}

std::vector<Measure> network_measures(const Config& config) {
  const auto of = network_kind(config).tape.measures;
  return of == nullptr ? std::vector<Measure>{} : of(config);
}

std::shared_ptr<const NetworkPlan> network_plan(const Config& config, const TaskSizes& task) {
  const NetworkKind& kind = network_kind(config);
  NUDGE_EXPECT(kind.is_circuit());
  NUDGE_EXPECT((kind.takes == Rows::symbols ? task.symbols : task.features) > 0);  // a rule of the config
  auto plan = kind.plan(config, task);
  static_cast<void>(layer_rates(config, plan->parameters()));  // refuses a list that does not fit
  return plan;
}

}  // namespace nudge
