// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "training/data/task.hpp"
#include "training/learning/estimators/requirement.hpp"
#include "training/models/mixer_term.hpp"
#include "training/models/network.hpp"
#include "training/models/network_plan.hpp"
#include "training/models/tapes/tape_model.hpp"

namespace nudge {

/// Kind of network that is no circuit: a computation on a tape, on exact numbers, that learns by backprop.
struct TapeKind {
  template <class S>
  using Make = std::unique_ptr<TapeModel<S>> (*)(const Config& config, const TaskSizes& task);
  Make<float> single = nullptr;
  Make<double> double_precision = nullptr;
  /// Lists the measures beside loss and metric, in logs, tables and files: ExampleTape::measured(), then
  /// TapeModel::measured(). null: none.
  std::vector<Measure> (*measures)(const Config& config) = nullptr;
};

/// Kind of network, named by network.kind. To add one, write its file and a line in registry.cpp; the conformance tests
/// loop over the list.
struct NetworkKind {
  std::string name;
  std::string summary;
  /// Makes the plan for a task of these sizes, whose rows are as `takes` says. UserError for sizes that contradict each
  /// other. null: no circuit.
  std::shared_ptr<const NetworkPlan> (*plan)(const Config& config, const TaskSizes& task) = nullptr;
  NodeLeak (*leak)(const Config& config) = [](const Config&) { return NodeLeak{}; };
  /// Returns true if every node is driven by earlier ones alone (Circuit::feed_forward).
  bool (*feed_forward)(const Config& config) = [](const Config&) { return true; };
  /// Returns the facts of its states that solvers must know; null: they are in no box, no bath, and no solver is theirs alone.
  StateFacts (*states)(const Config& config) = nullptr;
  /// True if rows are coupled (NetworkPlan::couples_rows).
  bool couples_rows = true;
  /// Rows of its input: the task must have such rows (TaskKind::rows).
  Rows takes = Rows::symbols;
  /// Check of the network's keys that needs no data; plan() runs it too. UserError naming the keys; null: no check.
  void (*check)(const Config& config) = nullptr;
  /// Returns true if the force is minus the gradient of an energy all of whose terms have the contrastive rule
  /// (TermSystem::accumulate_energy_gradient); null: never.
  bool (*contrastive)(const Config& config) = nullptr;
  /// Returns the weights without a layer energy (sim/layer_energies.hpp), in words. Empty: all weights have one, and a
  /// read-out of its own learns from the cost. null: the network has no layer energies.
  std::string (*lacks_layer_energy)(const Config& config) = nullptr;
  /// Returns the mixer that reads the keys of [mixer]; nothing: this config has none. null: no config has.
  std::optional<MixerChoice> (*mixer)(const Config& config) = nullptr;
  /// Export of the whole network as a circuit for ngspice (`nudge crossbar --block`); nothing: it is not exported.
  std::optional<NetlistExport> netlist = std::nullopt;
  TapeKind tape = {};  ///< computation of a kind without a plan
  /// Keys that this kind reads and others may not, its own included. Set for a kind that does not read them, they are
  /// refused.
  ParamTable keys = {};
  /// True if its weights are the conductances of bare devices between nodes: it has no circuits at the edge of an
  /// array, and no read-out.
  bool bare = false;
  /// Reason why it cannot learn at hardware.level = local, for a kind that does not read correlator.*; empty: no
  /// further reason.
  std::string not_local = {};
  std::string only_task = {};  ///< only task that it can have; empty: any with such rows

  bool is_circuit() const { return plan != nullptr; }
};

const std::vector<NetworkKind>& network_kinds();
/// Adds a network kind of the program, before anything else of nudge is used (OpenList).
void add_network_kind(NetworkKind kind);

/// Returns the kind that network.kind names.
const NetworkKind& network_kind(const Config& config);

/// Throws UserError if other keys break a requirement of network.kind or task.kind.
void check_kinds(const Config& config);

/// Number of rows that the circuit has at the same time, T of circuit.tokens: model.tokens, or 1 where rows are
/// independent samples.
Index coupled_rows(const Config& config);

/// Throws UserError if the network cannot be made for a task of these sizes.
void check_network(const Config& config, const TaskSizes& task);

/// Count of the numbers that the network learns, biases and tables included.
Index count_weights(const Config& config, const TaskSizes& task);
Index count_weights(const NetworkPlan& plan);

/// Measures of the network beside loss and metric (TapeKind::measures).
std::vector<Measure> network_measures(const Config& config);

/// Plan of the network that network.kind names.
std::shared_ptr<const NetworkPlan> network_plan(const Config& config, const TaskSizes& task);

}  // namespace nudge
