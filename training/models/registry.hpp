// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "training/data/task.hpp"
#include "training/models/mixer_term.hpp"
#include "training/models/network.hpp"
#include "training/models/network_plan.hpp"
#include "training/models/tapes/tape_model.hpp"

namespace nudge {

/// How a kind of network that is no circuit is made: a computation on a tape, on exact numbers, that learns by backprop.
struct TapeKind {
  template <class S>
  using Make = std::unique_ptr<TapeModel<S>> (*)(const Config& config, const TaskSizes& task);
  Make<float> single = nullptr;
  Make<double> twofold = nullptr;
  /// What it is measured by beside loss and metric, in logs, tables and files: ExampleTape::measured(), then TapeModel::measured(). null:
  /// nothing.
  std::vector<Measure> (*measures)(const Config& config) = nullptr;
};

/// A kind of network by the name that network.kind has. Adding one is its file and a line in registry.cpp; the conformance
/// tests loop over the list.
struct NetworkKind {
  std::string name;
  std::string summary;
  /// The plan for a task of these sizes, whose rows are as `takes` says. UserError for sizes that contradict each other. null: no circuit.
  std::shared_ptr<const NetworkPlan> (*plan)(const Config& config, const TaskSizes& task) = nullptr;
  NodeLeak (*leak)(const Config& config) = [](const Config&) { return NodeLeak{}; };
  /// Whether every node is driven by earlier ones alone (Circuit::feed_forward).
  bool (*feed_forward)(const Config& config) = [](const Config&) { return true; };
  /// NetworkPlan::couples_rows.
  bool couples_rows = true;
  /// What its input is made of: the task must have such rows (TaskKind::rows).
  Rows takes = Rows::symbols;
  /// What it requires of its keys, known before there is data: plan() asks the same. UserError naming them; null: nothing.
  void (*check)(const Config& config) = nullptr;
  /// Whether the force is minus the gradient of an energy all of whose terms have the contrastive rule
  /// (TermSystem::accumulate_energy_gradient); null: never.
  bool (*contrastive)(const Config& config) = nullptr;
  /// Which of its weights have no layer energy (sim/layer_energies.hpp), in words; empty: all have, and a read-out of its own learns
  /// from the cost. null: it has none.
  std::string (*lacks_layer_energy)(const Config& config) = nullptr;
  /// The mixer of its config that reads the keys of [mixer]; nothing: this config has none. null: no config has.
  std::optional<MixerChoice> (*mixer)(const Config& config) = nullptr;
  /// The whole network as a circuit for ngspice (`nudge crossbar --block`); nothing: it is not exported.
  std::optional<NetlistExport> netlist = std::nullopt;
  TapeKind tape = {};  ///< of a kind without a plan
  /// What it reads of those keys that only some kinds do, its own among them. Set for others, they are refused.
  ParamTable keys = {};
  /// Its weights are the conductances of bare devices between nodes: what stands at the edge of an array, and a read-out, it has not.
  bool bare = false;
  /// Why it cannot learn at hardware.level = local, where it does not read correlator.*; empty: it says no more.
  std::string not_local = {};
  std::string only_task = {};  ///< the one that it can have; empty: any with such rows

  bool is_circuit() const { return plan != nullptr; }
};

const std::vector<NetworkKind>& network_kinds();
/// Adds one of a program's own, before anything else of nudge is used (OpenList).
void add_network_kind(NetworkKind kind);

/// The kind of network.kind.
const NetworkKind& network_kind(const Config& config);

/// UserError where network.kind or task.kind requires something of other keys that they have not.
void check_kinds(const Config& config);

/// Rows that the circuit has at the same time, T of circuit.tokens: model.tokens, or 1 where rows are independent samples.
Index coupled_rows(const Config& config);

/// UserError where the network cannot be made for a task of these sizes.
void check_network(const Config& config, const TaskSizes& task);

/// Numbers that it learns, biases and tables included.
Index count_weights(const Config& config, const TaskSizes& task);
Index count_weights(const NetworkPlan& plan);

/// What it is measured by beside loss and metric (TapeKind::measures).
std::vector<Measure> network_measures(const Config& config);

/// Its plan.
std::shared_ptr<const NetworkPlan> network_plan(const Config& config, const TaskSizes& task);

}  // namespace nudge
