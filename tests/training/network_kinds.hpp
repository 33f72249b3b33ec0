// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/base/open_list.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/data/characters.hpp"
#include "training/models/registry.hpp"

namespace nudge::test {

inline const char* const small_network =
    "precision = 'double'\n[model]\nchannels = 8\ntokens = 4\nmemories = 12\nheads = 2\nattention_scale = 1.0\n"
    "[relaxation]\nfree_steps = 120\nnudged_steps = 120\n[train]\nsteps = 6\nbatch = 2\nevaluation_batches = 1\n"
    "test_batches = 1\nevaluate_every = 3\ncheckpoint_every = 3\n[gradcheck]\nfinite_difference_entries = 6\n"
    "estimators = ['aep_transposed', 'aep_anchored', 'aep_tracked', 'dyadic', 'linear_adjoint', 'implicit']\n";

/// Those that settle and are ours: `own` is lent by who runs it (own_network_test).
inline std::vector<NetworkKind> circuit_kinds() {
  std::vector<NetworkKind> all;
  for (const NetworkKind& kind : network_kinds()) {
    if (kind.is_circuit() && kind.name != "own") all.push_back(kind);
  }
  return all;
}

inline bool of_samples(const std::string& kind) { return !named(network_kinds(), kind).couples_rows; }

/// `--set` of a small network of a kind on top of small_network. Kinds that are fed samples learn the shipped digits; smooth, so that
/// derivatives exist at every point.
inline std::vector<std::string> small_settings(const std::string& kind) {
  std::vector<std::string> all{"hardware.level=ideal"};
  if (of_samples(kind)) {
    all.insert(all.end(), {"hopfield.form=energy",
                           "hopfield.activation=tanh",
                           "hopfield.hidden=[10]",
                           "convolutional.maps=[2]",
                           "data.validation_samples=30",
                           "relaxation.free_steps=800",
                           "relaxation.nudged_steps=800",
                           "netlist.file=" NUDGE_SOURCE_DIR "/tests/training/netlists/small.cir",
                           "netlist.inputs=['v0?', 'v1?', 'v2?', 'v3?', 'v4?', 'v5?', 'v6?']",
                           "netlist.outputs=['o0', 'o1', 'o2', 'o3', 'o4', 'o5', 'o6', 'o7', 'o8', 'o9']",
                           "netlist.conductance=1 mS",
                           "netlist.initial_spread=0.1",
                           "resistive.diode=none",
                           "resistive.hidden=[10]",
                           "resistive.gain=[2.0]",
                           "oscillator.hidden=[10]",
                           "thermal.hidden=[10]",
                           "predictive_coding.hidden=[10]",
                           "predictive_coding.activation=tanh",
                           "task.kind=classification"});
  }
  if (kind == "oscillator") {
    all.insert(all.end(),
               {"relaxation.step_fraction=0.3", "oscillator.field=3"});  // its units have no leak to say a step
  }
  if (kind == "predictive_coding") {
    all.insert(all.end(),
               {"relaxation.step_fraction=0.3", "predictive_coding.gain=0.5"});  // 1 + |M|^2 = 2 at an input of 1
  }
  if (kind == "thermal") all.emplace_back("thermal.gain=0.3");  // far from where couplings outweigh the wells
  all.push_back("network.kind=" + kind);                        // behind what only some kinds read
  return all;
}

inline Config small(const std::string& kind, const std::vector<std::string>& settings = {}) {
  std::vector<std::string> all = small_settings(kind);
  all.insert(all.end(), settings.begin(), settings.end());
  return parse_program_config("small.toml", small_network, all);
}

inline TaskSizes sizes_for(const Config& config) {
  if (!of_samples(config.text("network.kind"))) return character_sizes(config, 9);
  if (config.text("network.kind") == "netlist") return {3, 0, 10, 64, 0, {8, 8}};  // as its file has them
  return {3, 0, 4, 16, 0, {4, 4}};
}

/// Variants of a kind.
inline std::vector<std::string> variants(const std::string& kind) {
  if (kind == "resistive") return {"resistive.bias=current", "resistive.bias=rails", "resistive.gain=[2.0, 1.5]"};
  if (kind == "oscillator") return {"oscillator.gain=0.5", "oscillator.field=4", "oscillator.hidden=[6, 5]"};
  if (kind == "thermal") return {"thermal.stiffness=0.5", "thermal.gain=0.2", "thermal.hidden=[6, 5]"};
  if (kind == "predictive_coding")
    return {"predictive_coding.activation=sigmoid", "predictive_coding.predictions=fixed",
            "predictive_coding.hidden=[6, 5]"};
  if (kind == "netlist")
    return {"netlist.initial_spread=0.2", "netlist.learn=['r?_*', 'vbias', 'ib']",
            "netlist.file=" NUDGE_SOURCE_DIR "/tests/training/netlists/mixed.cir"};
  if (of_samples(kind))
    return {"hopfield.feedback=transpose", "hopfield.feedback=separate", "hopfield.cost=cross_entropy"};
  if (kind != "transformer") return {"model.embedding_scale=0.5", "model.attention_gain=1.2"};
  return {"transformer.feedback=0", "transformer.feedback=0.2", "transformer.positions=learned"};
}

/// With nodes that hear those above them, where a kind can.
inline std::vector<std::string> with_feedback(const std::string& kind, const std::string& value) {
  return kind == "transformer" ? std::vector<std::string>{"transformer.feedback=" + value} : std::vector<std::string>{};
}

}  // namespace nudge::test
