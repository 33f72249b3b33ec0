// SPDX-License-Identifier: Apache-2.0
#include "training/config/idle_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "circuits/rules/rule_kinds.hpp"
#include "devices/registry.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

using Choice = IdleChoice;

bool begins(const std::string& key, const std::vector<std::string>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](const std::string& one) { return one.ends_with('.') ? key.starts_with(one) : key == one; });
}

/// What every training on exact numbers reads.
bool is_of_training(const std::string& key) {
  static const std::vector<std::string> of_circuits = {"train.step_time", "train.skip_ratio", "train.leave_out_ratio",
                                                       "train.cosine_every", "train.learns"};
  static const std::vector<std::string> all = {"preset",  "seed",     "threads",      "precision", "estimator",
                                               "output.", "product.", "network.kind", "task.",     "data.",
                                               "series.", "train.",   "sweep.",       "compare.",  "model.tokens"};
  return begins(key, all) && !begins(key, of_circuits);
}

/// "network.kind = hopfield or convolutional": kinds that read a key.
template <class Kind>
std::string readers_of_kind(const std::string& choice, const std::vector<Kind>& kinds, const std::string& key) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds) {
    if (begins(key, kind.reads)) names.push_back(kind.name);
  }
  return names.empty() ? "" : fmt::format("; {} = {} would", choice, fmt::join(names, ", "));
}

/// Whether any kind says of a key that it reads it: those of nobody are everybody's.
template <class Kind>
bool has_owner(const std::vector<Kind>& kinds, const std::string& key) {
  return std::any_of(kinds.begin(), kinds.end(), [&](const Kind& kind) { return begins(key, kind.reads); });
}

Choice of_network() {
  return {"network.kind",
          [](const Config& c, const std::string& key) {
            const NetworkKind& kind = network_kind(c);
            if (begins(key, kind.reads) || is_of_training(key)) return false;
            if (!kind.is_circuit()) return true;
            const bool off = key == "damping.control" || (key == "memory_bound.fraction" && c.real(key) == 0);
            return !kind.reads.empty() && has_owner(network_kinds(), key) && !off;
          },
          [](const Config& c, const std::string& key) {
            return fmt::format("network.kind = {}{}", network_kind(c).name,
                               has_owner(network_kinds(), key) ? readers_of_kind("network.kind", network_kinds(), key)
                                                               : " does not settle and has no devices");
          }};
}

/// Every estimator that a run asks, and where it compares several, all of those.
std::vector<std::string> asked_estimators(const Config& config, bool training) {
  std::vector<std::string> names{config.text("estimator"), config.text("train.beside")};
  if (training) return names;
  for (const char* list : {"gradcheck.estimators", "compare.entrants"}) {
    for (const std::string& entry : config.texts(list)) {
      for (const EstimatorKind& kind : estimator_kinds()) {
        if (entry == "all" || entry.find(kind.name) != std::string::npos) names.push_back(kind.name);
      }
    }
  }
  return names;
}

Choice of_estimator(bool training) {
  return {"estimator",
          [training](const Config& c, const std::string& key) {
            if (!network_kind(c).is_circuit() || !has_owner(estimator_kinds(), key)) return false;
            const auto names = asked_estimators(c, training);
            return std::none_of(names.begin(), names.end(), [&](const std::string& name) {
              const EstimatorKind* kind = find_estimator(name);
              if (kind == nullptr) return false;
              const bool swings = c.text("nudge.form") == "oscillating" && begins(key, kind->reads_swinging);
              return !kind->declares || begins(key, kind->reads) || swings;
            });
          },
          [](const Config& c, const std::string& key) {
            return fmt::format("estimator = {}{}", c.text("estimator"),
                               readers_of_kind("estimator", estimator_kinds(), key));
          }};
}

Choice of_task() {
  return {"task.kind",
          [](const Config& c, const std::string& key) {
            const TaskKind& kind = task_kind(c);
            return !kind.reads.empty() && !begins(key, kind.reads) && has_owner(task_kinds(), key) &&
                   key != "task.kind";
          },
          [](const Config& c, const std::string& key) {
            return fmt::format("task.kind = {}{}", task_kind(c).name, readers_of_kind("task.kind", task_kinds(), key));
          }};
}

/// Keys that some values of a choice alone read.
Choice only_with(const char* choice, const std::vector<std::string>& values, const std::vector<std::string>& keys) {
  return {choice,
          [=](const Config& c, const std::string& key) {
            return begins(key, keys) && std::find(values.begin(), values.end(), c.text(choice)) == values.end();
          },
          [=](const Config& c, const std::string&) {
            return fmt::format("{} = {}; {} would", choice, c.text(choice), fmt::join(values, " or "));
          }};
}

/// Keys of update rules are read by some of them.
Choice of_update_rule() {
  return {"crossbar.update",
          [](const Config& c, const std::string& key) {
            const std::vector<std::string> rules = rules_reading(key);
            return !rules.empty() && std::find(rules.begin(), rules.end(), c.text("crossbar.update")) == rules.end();
          },
          [](const Config& c, const std::string& key) {
            return fmt::format("crossbar.update = {}; {} would", c.text("crossbar.update"),
                               fmt::join(rules_reading(key), " or "));
          }};
}

/// [device.soft_bounds] is of device.model = soft_bounds.
Choice of_device_model() {
  const auto model_of = [](const std::string& key) {
    const std::string section(section_of(key));
    return section.starts_with("device.") ? section.substr(7) : std::string();
  };
  return {"device.model",
          [=](const Config& c, const std::string& key) {
            const std::string model = model_of(key);
            return !model.empty() && model != c.text("device.model");
          },
          [=](const Config& c, const std::string& key) {
            return fmt::format("device.model = {}; {} would", c.text("device.model"), model_of(key));
          }};
}

/// Keys of something that is there only above 0.
Choice needs(const char* choice, const std::vector<std::string>& keys) {
  return {choice, [=](const Config& c, const std::string& key) { return begins(key, keys) && c.real(choice) == 0; },
          [=](const Config& c, const std::string&) {
            return fmt::format("{} = {}; a value above 0 would", choice, c.as_text(choice));
          }};
}

/// Keys of something that is switched on.
Choice switched(const char* choice, const std::vector<std::string>& keys) {
  return {choice, [=](const Config& c, const std::string& key) { return begins(key, keys) && !c.flag(choice); },
          [=](const Config&, const std::string&) { return fmt::format("{} = false; true would", choice); }};
}

/// Keys of something that is there while any of others is not at its default; the choice is the first.
Choice beside(const std::vector<const char*>& others, const std::vector<std::string>& keys) {
  return {others.front(),
          [=](const Config& c, const std::string& key) {
            return begins(key, keys) &&
                   std::all_of(others.begin(), others.end(), [&](const char* one) { return c.at_default(one); });
          },
          [=](const Config& c, const std::string&) {
            return fmt::format("{} = {}; another value{} would", others.front(), c.as_text(others.front()),
                               others.size() == 1
                                   ? std::string()
                                   : fmt::format(", or of {}", fmt::join(others.begin() + 1, others.end(), ", ")));
          }};
}

/// Write–verify whose pulses grow sends one in a round.
Choice of_growing_pulses() {
  return {"crossbar.step_voltage",
          [](const Config& c, const std::string& key) {
            return key == "crossbar.verify_burst" &&
                   !(c.at_default("crossbar.step_voltage") && c.at_default("crossbar.step_width"));
          },
          [](const Config&, const std::string&) {
            return std::string("pulses that grow, crossbar.step_voltage or step_width, are sent one at a time");
          }};
}

/// What can grow: a network that feeds forward forgets in one step, and independent samples have a direction each where they are asked to.
Choice of_growth() {
  return {"network.kind",
          [](const Config& c, const std::string& key) {
            const NetworkKind& kind = network_kind(c);
            if (!kind.is_circuit() || section_of(key) != "growth" || (key == "growth.strength" && c.real(key) == 0)) {
              return false;
            }
            if (kind.feed_forward(c)) return true;
            return kind.couples_rows ? key == "growth.samples" : !c.flag("growth.samples");
          },
          [](const Config& c, const std::string& key) {
            const NetworkKind& kind = network_kind(c);
            if (kind.feed_forward(c))
              return fmt::format("this network.kind = {} feeds forward, nothing grows", kind.name);
            return key == "growth.samples" ? fmt::format("network.kind = {} couples its rows", kind.name)
                                           : "growth.samples = false; true would";
          }};
}

/// Rows of independent samples are those of data.side_by_side, and their held-out parts are looked at whole.
Choice of_samples() {
  return {"network.kind",
          [](const Config& c, const std::string& key) {
            const NetworkKind& kind = network_kind(c);
            const bool of_rows = key == "model.tokens" && kind.is_circuit() && !kind.couples_rows;
            const bool of_parts = key == "train.evaluation_batches" || key == "train.test_batches";
            return of_rows || (of_parts && kind.is_circuit() && kind.takes == Rows::features);
          },
          [](const Config& c, const std::string& key) {
            return fmt::format("network.kind = {} is fed by samples; {}", network_kind(c).name,
                               key == "model.tokens" ? "data.side_by_side has so many at a time"
                                                     : "their held-out parts are taken whole");
          }};
}

/// What numbers learn for devices, where they are none yet.
Choice of_numbers() {
  return {"device.model",
          [](const Config& c, const std::string& key) {
            return section_of(key) == "hardware_aware" && c.text("device.model") != digital_model;
          },
          [](const Config& c, const std::string&) {
            return fmt::format("device.model = {}: the weights are devices already; digital would",
                               c.text("device.model"));
          }};
}

/// The time between steps ages devices alone, and they alone stand in circuits that correlate.
Choice of_devices() {
  return {"device.model",
          [](const Config& c, const std::string& key) {
            const bool of_circuits =
                section_of(key) == "correlator" || section_of(key) == "neuron" || section_of(key) == "attention";
            return (of_circuits || key == "train.step_time") && c.text("device.model") == digital_model;
          },
          [](const Config&, const std::string& key) {
            return fmt::format("device.model = digital: numbers {}",
                               key == "train.step_time" ? "do not age" : "are multiplied and bent exactly");
          }};
}

}  // namespace

const std::vector<IdleChoice>& idle_choices() {
  static const std::vector<Choice> all = {
      of_network(),
      of_task(),
      of_device_model(),
      of_estimator(false),
      only_with("network.cost", {"own"}, {"own.cost", "own.cost_code"}),
      only_with("estimator", {"own"}, {"own.estimator", "own.estimator_code"}),
      only_with("train.optimizer", {"sgd"}, {"train.momentum"}),
      only_with("train.optimizer", {"comparator"},
                {"train.comparator_offset", "train.comparator_threshold", "train.comparator_output"}),
      only_with("train.optimizer", {"adam"}, {"train.adam_beta1", "train.adam_beta2", "train.adam_epsilon"}),
      only_with("transformer.feed_forward", {"two_layer"}, {"transformer.activation"}),
      of_growth(),
      of_samples(),
      of_devices(),
      of_numbers(),
      beside({"hardware_aware.devices"}, {"hardware_aware.age"}),
      needs("growth.strength", {"growth.threshold", "growth.probe", "growth.iterations", "growth.samples"}),
      needs("memory_bound.fraction", {"memory_bound.iterations"}),
      needs("model.coupling_scale", {"model.coupling_symmetric", "model.coupling_antisymmetric"}),
      needs("device.leak_time", {"device.leak_spread", "device.leak_rest"}),
      needs("device.endurance", {"device.endurance_spread", "device.endurance_failure"}),
      needs("device.programming_saturating", {"device.programming_scale"}),
      needs("device.read_saturating", {"device.read_scale"}),
      needs("device.telegraph_share",
            {"device.telegraph_amplitude", "device.telegraph_spread", "device.telegraph_time_high",
             "device.telegraph_time_low", "device.telegraph_time_spread"}),
      needs("device.telegraph_amplitude", {"device.telegraph_share"}),
      beside({"device.flicker_noise", "device.flicker_fit", "device.noise_flicker"},
             {"device.flicker_power", "device.flicker_limit", "device.flicker_exponent", "device.flicker_fastest",
              "device.flicker_slowest"}),
      beside({"device.drift_exponent", "device.drift_spread", "device.drift_fit", "device.drift_spread_fit"},
             {"device.drift_start"}),
      beside({"device.decay_slope", "device.decay_spread", "device.decay_spread_slope"}, {"device.decay_start"}),
      beside({"device.relaxation_level"}, {"device.relaxation_memory", "device.relaxation_jumps",
                                           "device.relaxation_activation", "device.relaxation_reference"}),
      beside({"device.relaxation_volatility"}, {"device.relaxation_volatility_memory"}),
      needs("device.relaxation_activation", {"device.relaxation_reference"}),
      only_with("device.selector", {"transistor", "threshold"}, {"device.selector_resistance"}),
      only_with("device.selector", {"exponential", "threshold"}, {"device.selector_voltage"}),
      only_with("device.selector", {"exponential"}, {"device.selector_current"}),
      beside({"crossbar.step_voltage", "crossbar.step_width"}, {"crossbar.step_count"}),
      of_growing_pulses(),
      needs("crossbar.forward_saturation", {"crossbar.forward_saturation_shape"}),
      needs("crossbar.transposed_saturation", {"crossbar.transposed_saturation_shape"}),
      needs("circuit.hold_time", {"circuit.turn_slots"}),
      beside({"crossbar.row_resistance", "crossbar.column_resistance", "crossbar.driver_resistance",
              "crossbar.sense_resistance"},
             {"crossbar.line_ends", "crossbar.transposed_path"}),
      only_with("crossbar.directions", {"simultaneous"}, {"crossbar.load_trim", "crossbar.trim"}),
      switched("damping.control", {"damping.high", "damping.low", "damping.raise", "damping.lower", "damping.minimum",
                                   "damping.maximum", "damping.patience", "damping.raise_on_skip"}),
      only_with("model.mixer", {MixerChoice::fused},
                {"attention.products", "attention.gain_spread", "attention.offset_spread"}),
      only_with("attention.products", {"analog"}, {"attention.gain_spread", "attention.offset_spread"}),
      only_with("resistive.diode", {"shockley"}, {"resistive.saturation_current", "resistive.emission"}),
      only_with("resistive.bias", {"rails"}, {"resistive.rail_voltage"}),
      only_with("latent.sampler", {"device"},
                {"latent.bit_offset", "latent.bit_offset_spread", "latent.bit_gain_spread", "latent.bit_correlation"}),
      of_update_rule(),
      only_with("nudge.form", {"oscillating"},
                {"nudge.frequency", "nudge.periods", "nudge.settling_periods", "nudge.harmonic", "nudge.time_constant",
                 "nudge.phase_error"}),
      only_with("nudge.form", {"static"}, {"nudge.sides"}),
      only_with("relaxation.solver", {"direct"}, {"netlist.twin_mismatch", "netlist.delay", "netlist.clock"}),
      needs("netlist.node_capacitance", {"netlist.capacitances", "netlist.delay", "netlist.clock"}),
      only_with("relaxation.solver", {"euler"}, {"netlist.flicker_slowest"}),
      switched("circuit.thermal_noise", {"netlist.flicker_slowest"}),
      needs("netlist.clock", {"netlist.gate_leak_time"}),
      only_with("relaxation.solver", {"sample"},
                {"thermal.temperature", "thermal.units", "thermal.bit_gain_spread", "thermal.bit_offset_spread",
                 "thermal.bit_correlation"}),
      only_with("thermal.units", {"binary"},
                {"thermal.bit_gain_spread", "thermal.bit_offset_spread", "thermal.bit_correlation"}),
      only_with("thermal.units", {"real"}, {"thermal.stiffness"}),
      only_with("relaxation.solver", {"dopri5"}, {"relaxation.ode_tolerance"}),
      only_with("relaxation.solver", {"anderson", "newton_gmres"}, {"relaxation.memory"})};
  return all;
}

bool is_idle(const Config& config, const std::string& key) {
  const auto leaves = [&](const Choice& choice) { return choice.key != key && choice.leaves(config, key); };
  return leaves(idle_estimator()) || std::any_of(idle_choices().begin(), idle_choices().end(), leaves);
}

bool network_leaves(const Config& config, const std::string& key) { return of_network().leaves(config, key); }

IdleChoice idle_estimator() { return of_estimator(true); }

}  // namespace nudge
