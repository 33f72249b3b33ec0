// SPDX-License-Identifier: Apache-2.0
// What kinds of networks and of tasks, and hardware.level = local, require of each other and of the keys that are theirs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/rules/rule_kinds.hpp"
#include "devices/device_config.hpp"
#include "sim/config/reading.hpp"
#include "training/config/config_table.hpp"
#include "training/config/feed_forward.hpp"
#include "training/config/hardware.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/rows.hpp"
#include "training/config/run_options.hpp"
#include "training/learning/correlator.hpp"
#include "training/learning/cost_kinds.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/models/hopfield/hopfield_config.hpp"
#include "training/models/netlist/netlist_plan.hpp"
#include "training/models/own/own_network.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

/// Names of the kinds that fit.
template <class Kind, class Fits>
std::vector<std::string> names_of(const std::vector<Kind>& kinds, const Fits& fits) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds) {
    if (fits(kind)) names.push_back(kind.name);
  }
  return names;
}

bool can_learn(const NetworkKind& network, const TaskKind& task) {
  const bool fits = task.only_network.empty() ? network.takes == task.rows : task.only_network == network.name;
  return fits && (network.only_task.empty() || network.only_task == task.name);
}

std::string takes_no_such_task(const Config& c) {
  const NetworkKind& network = network_kind(c);
  const TaskKind& task = task_kind(c);
  if (can_learn(network, task)) return "";
  const std::string why = network.takes == task.rows   ? ": " + task.summary
                          : task.rows == Rows::symbols ? ", which has symbols"
                                                       : ", which has features";
  const auto learns_it = [&](const NetworkKind& n) {
    return can_learn(n, task) && (n.name != "own" || own_network_missing(c).empty());
  };
  const auto it_learns = [&](const TaskKind& t) { return can_learn(network, t); };
  return fmt::format("must be {} for task.kind = {}{}; or set task.kind to {}",
                     alternatives_text(names_of(network_kinds(), learns_it)), task.name, why,
                     alternatives_text(names_of(task_kinds(), it_learns)));
}

/// What reads symbols is measured in nats against what counting gives; what does not settle has its loss on the tape.
std::string cost_of_no_samples(const Config& c) {
  const NetworkKind& network = network_kind(c);
  if (cost_choice_section().read(c).name == "auto") return "";
  if (const std::string missing = own_cost_missing(c); !missing.empty()) return missing;
  if (network.is_circuit() && network.takes == Rows::features) return "";
  return fmt::format("must be auto for network.kind = {}: {}", network.name,
                     network.is_circuit() ? "the loss of symbols is in nats" : "it does not settle");
}

/// Conductances of bare devices are neither several arrays nor of one sign of change.
std::string no_rule_of_bare_devices(const Config& c) {
  const RuleKind* rule = find_rule(c.text("crossbar.update"));
  const NetworkKind& network = network_kind(c);
  if (!network.bare || !on_devices(c) || rule == nullptr) return "";
  if (rule->arrays(RuleSpec{}) <= 1 && !rule->one_sided) return "";
  return fmt::format(
      "must be a rule for single devices with network.kind = {}: its weights are the conductances of bare devices",
      network.name);
}

}  // namespace

std::vector<ConfigRule> kind_rules() {
  return {
      {{"network.kind"},
       [](const Config& c) { return c.text("network.kind") == "own" ? own_network_missing(c) : std::string(); }},
      {{"network.kind", "task.kind"}, takes_no_such_task},
      {{"network.cost", "network.kind"}, cost_of_no_samples},
      must({"model.embeddings", "network.kind"},
           "must be digital for {network.kind}: its inputs are features, so it has no table",
           [](const Config& c) {
             return c.text("model.embeddings") == "digital" || network_kind(c).takes == Rows::symbols;
           }),
      // In most tasks the answer to a token stands behind it.
      must({"mixer.mask", "task.kind"}, "must be causal for {task.kind}: later tokens contain the answer of a token",
           [](const Config& c) {
             const std::string& task = c.text("task.kind");
             return c.text("mixer.mask") == "causal" || task == "compression" || task == "selective_copy" ||
                    task == "forecasting";
           }),
      {{"crossbar.update", "network.kind", "device.model"}, no_rule_of_bare_devices},
      must({"train.beside", "network.kind"}, "must not be feed_forward for {network.kind}: no perceptron has its units",
           [](const Config& c) {
             const std::string& kind = c.text("network.kind");
             return c.text("train.beside") != feed_forward_name ||
                    (kind != "thermal" && kind != "oscillator" && kind != "predictive_coding" && kind != "netlist");
           }),
  };
}

namespace {

bool layered(const Config& c) {
  return c.text("network.kind") == "hopfield" || c.text("network.kind") == "convolutional";
}

bool has_box(const Config& c, const char* key) {
  return !layered(c) || c.text("hopfield.form") != "projected" || c.text(key) == "hard_sigmoid" ||
         c.text(key) == "relu";
}

/// Both ends of an array must be known before it is driven, and the loads of its lines be all that tells G (x − g) from two reads.
std::string not_at_the_same_time(const Config& c) {
  if (c.text("crossbar.directions") == "sequential" || c.text("device.model") == digital_model) return "";
  const auto unless = [](const std::string& what) { return "must be sequential unless " + what; };
  if (c.text("network.kind") != "hopfield") {
    return unless("network.kind = hopfield: in other networks the drive of the columns depends on what they sense");
  }
  for (const auto& [key, value] : {std::pair{"hopfield.feedback", "transpose"},
                                   {"relaxation.schedule", "parallel"},
                                   {"crossbar.mapping", "differential"}}) {
    if (c.text(key) != value) return unless(fmt::format("{} = {}", key, value));
  }
  const RuleKind* rule = find_rule(c.text("crossbar.update"));
  if (rule != nullptr && rule->share != nullptr) {
    return unless("crossbar.update is not a rule with several arrays per weight, as " + rule->name + " is");
  }
  for (const char* key : {"device.iv_sinh", "device.iv_cubic", "crossbar.row_resistance", "crossbar.column_resistance",
                          "crossbar.driver_resistance", "crossbar.sense_resistance"}) {
    if (c.real(key) > 0) return unless(fmt::format("{} = 0: both drives share devices and wires", key));
  }
  return "";
}

std::string no_such_feedback(const Config& c) {
  const std::string& feedback = c.text("hopfield.feedback");
  const bool projected = c.text("hopfield.form") == "projected";
  if (!layered(c) || feedback == "transpose" || (feedback == "none") == projected) return "";
  return fmt::format("must be transpose or {} for hopfield.form = {}", projected ? "none" : "separate",
                     c.text("hopfield.form"));
}

std::string even_kernel(const Config& c) {
  if (c.text("network.kind") != "convolutional" || !c.integers("convolutional.padding").empty()) return "";
  for (const std::int64_t side : c.integers("convolutional.kernel")) {
    if (side % 2 == 0) return fmt::format("must be odd, {} has no middle. Or set convolutional.padding", side);
  }
  return "";
}

/// One entry for all layers, or one for each.
ConfigRule entry_per_layer(const std::string& key) {
  return {{key, "convolutional.maps", "network.kind"}, [key](const Config& c) {
            const std::size_t entries = c.integers(key).size(), layers = c.integers("convolutional.maps").size();
            if (c.text("network.kind") != "convolutional" || entries == 1 || entries == layers) return std::string();
            if (key == "convolutional.padding" && entries == 0) return std::string();
            return fmt::format("must have 1 entry, or {} as convolutional.maps has", layers);
          }};
}

/// Of hopfield.* and convolutional.*
std::vector<ConfigRule> layer_rules() {
  return {
      must({"hopfield.activation", "hopfield.form", "network.kind"},
           "must be hard_sigmoid or relu for hopfield.form = projected: it names the box",
           [](const Config& c) { return has_box(c, "hopfield.activation"); }),
      {{"crossbar.directions", "network.kind", "hopfield.feedback", "relaxation.schedule", "crossbar.mapping",
        "crossbar.update", "device.model", "device.iv_sinh", "device.iv_cubic", "crossbar.row_resistance",
        "crossbar.column_resistance", "crossbar.driver_resistance", "crossbar.sense_resistance"},
       not_at_the_same_time},
      must({"hopfield.output_activation", "hopfield.form", "network.kind"},
           "must be identity, hard_sigmoid or relu for hopfield.form = projected: it names the box",
           [](const Config& c) {
             const std::string& last = c.text("hopfield.output_activation");
             return has_box(c, "hopfield.output_activation") || last == "identity" || last == "auto";
           }),
      {{"hopfield.feedback", "hopfield.form", "network.kind"}, no_such_feedback},
      // Links that act both ways have no law of the difference alone (TermTraits::takes_difference).
      must({"nudge.drive", "hopfield.feedback", "network.kind"},
           "must be state for hopfield.feedback = transpose: the states drive its links",
           [](const Config& c) {
             return !layered(c) || c.text("nudge.drive") != "difference" || !hopfield_contrasts(c);
           }),
      must({"train.learns", "hopfield.cost", "network.kind"},
           "must be all unless hopfield.cost = cross_entropy: without it there is no read-out to learn alone",
           [](const Config& c) {
             return !layered(c) || c.text("train.learns") == "all" || c.text("hopfield.cost") == "cross_entropy";
           }),
      {{"convolutional.kernel", "convolutional.padding", "network.kind"}, even_kernel},
      must({"convolutional.maps", "network.kind"},
           "must name a layer for network.kind = convolutional (hopfield has none)",
           [](const Config& c) {
             return c.text("network.kind") != "convolutional" || !c.integers("convolutional.maps").empty();
           }),
      entry_per_layer("convolutional.kernel"),
      entry_per_layer("convolutional.pool"),
      entry_per_layer("convolutional.stride"),
      entry_per_layer("convolutional.padding"),
  };
}

NetlistKeys drawn(const Config& c) { return netlist_section().read(c); }

/// Where time passes: steps of Euler's method, reads before a phase has settled, frequencies, and samples with kT/C.
bool time_has_capacitances(const Config& c) {
  const NetlistKeys keys = drawn(c);
  return keys.node_capacitance == 0 || phase_options(c).phases.free.solver != SettleSolver::direct || keys.timed() ||
         (on_devices(c) && c.flag("circuit.thermal_noise")) || run_options(c).estimator == "frequency";
}

}  // namespace

std::vector<ConfigRule> network_rules() {
  std::vector<ConfigRule> rules = layer_rules();
  rules.insert(
      rules.end(),
      {must({"netlist.node_capacitance", "relaxation.solver", "estimator", "netlist.delay", "netlist.clock"},
            "must be auto: direct solutions take no time. It acts with netlist.delay, netlist.clock, estimator = "
            "frequency, or solver euler",
            time_has_capacitances),
       must({"netlist.delay", "netlist.clock"}, "must be at most netlist.clock: a phase is over after its period",
            [](const Config& c) { return drawn(c).clock == 0 || drawn(c).delay <= drawn(c).clock; }),
       must({"netlist.gate_leak_time", "netlist.gate_leak"},
            "must be off with netlist.gate_leak, which gives the same leak per step",
            [](const Config& c) { return drawn(c).gate_leak == 0 || drawn(c).gate_leak_time == 0; })});
  return rules;
}

namespace {

/// What hardware.level = local rules out: whatever learns with numbers that no circuit at a weight has. A key that may
/// only be what holds() accepts, and what the message asks for.
ConfigRule local(const char* key, const char* asks, bool (*holds)(const Config&)) {
  return {{key, "hardware.level"}, [=](const Config& c) {
            return !is_local(c) || holds(c) ? std::string() : fmt::format("{} where hardware.level = local", asks);
          }};
}

bool learns_by_pulses(const Config& c) {
  const CrossbarSpec arrays = crossbar_spec(c);
  const RuleKind* rule = find_rule(arrays.programming.update);
  return arrays.programming.update != UpdateScheme::write_verify &&
         (rule == nullptr || rule->numbers(arrays.rule) == 0);
}

bool is_nudged(const Config& c) {
  const EstimatorKind* kind = find_estimator(c.text("estimator"));
  return kind != nullptr && kind->nudge != Nudge::none;
}

bool has_multipliers(const Config& c) { return on_devices(c) && correlator_section().read(c).on(); }

bool multiplies(const NetworkKind& kind) { return find_row(kind.keys, "correlator.noise") != nullptr; }

/// Networks whose learning is products of two states.
std::string learns_by_no_products(const Config& c) {
  const NetworkKind& own = network_kind(c);
  if (!is_local(c) || multiplies(own)) return "";
  return fmt::format("must be one of {} for hardware.level = local: they learn by products of states{}",
                     fmt::join(names_of(network_kinds(), multiplies), ", "),
                     own.not_local.empty() ? "" : "; " + own.not_local);
}

}  // namespace

std::vector<ConfigRule> local_rules() {
  return {
      // Pulse trains on rows and columns are the product.
      must({"crossbar.update", "correlator.gain_spread", "correlator.offset", "correlator.noise"},
           "must not be coincidence, whose pulses multiply at the device, with multipliers (correlator.*)",
           [](const Config& c) { return !has_multipliers(c) || !pulses_multiply(c); }),
      // The product's offset and noise are those of one difference of two states that stand still.
      must({"estimator", "nudge.form", "correlator.gain_spread", "correlator.offset", "correlator.noise"},
           "must compare two static states with multipliers (correlator.*): not aep_npoint, not nudge.form = "
           "oscillating",
           [](const Config& c) {
             return !has_multipliers(c) || (c.text("estimator") != "aep_npoint" && c.text("nudge.form") == "static");
           }),
      {{"network.kind", "hardware.level"}, learns_by_no_products},
      local("hopfield.cost", "must be squared_error (a softmax is digital)",
            [](const Config& c) { return c.text("hopfield.cost") == "squared_error"; }),
      local("estimator", "must be one that reads nudged states", is_nudged),
      local("estimator", "must keep no number per weight",
            [](const Config& c) {
              const EstimatorKind* kind = find_estimator(c.text("estimator"));
              return kind == nullptr || kind->matrices == 0;
            }),
      local("crossbar.update", "must be a rule without digital numbers per weight", learns_by_pulses),
      local("train.optimizer", "must be sgd", is_sgd),
      local("train.momentum", "must be 0 (it is a number per weight)", has_no_momentum),
      local("nudge.running_mean", "must be 0 (it is a number per weight)", has_no_mean),
      local("train.weight_decay", "must be 0 (it reads digital weights)", has_no_decay),
      local("train.gradient_clip", "must be 0 (a norm over all weights is digital)", has_no_clip),
      local("train.skip_ratio", "must be off (a norm over all weights is digital)",
            [](const Config& c) { return c.real("train.skip_ratio") == 0; }),
      local("train.leave_out_ratio", "must be off (a norm over all states is digital)",
            [](const Config& c) { return c.real("train.leave_out_ratio") == 0; }),
      local("memory_bound.fraction", "must be off (its power iteration is digital)",
            [](const Config& c) {
              return !network_reads(c, "memory_bound.fraction") || c.real("memory_bound.fraction") == 0;
            }),
      local("damping.control", "must be false", [](const Config& c) { return !c.flag("damping.control"); }),
      local("growth.strength", "must be 0", [](const Config& c) { return c.real("growth.strength") == 0; }),
      local("nudge.form", "must be static (the lock-in of an oscillating nudge is digital)",
            [](const Config& c) { return c.text("nudge.form") == "static"; }),
  };
}

}  // namespace nudge
