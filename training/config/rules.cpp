// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "circuits/rules/rule_kinds.hpp"
#include "sim/base/errors.hpp"
#include "training/config/assembly.hpp"
#include "training/config/rounding.hpp"
#include "training/config/rows.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/models/mixer_keys.hpp"
#include "training/models/model_options.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

std::string with_value(const Config& config, const std::string& key) {
  return fmt::format("{} = {}", key, config.as_text(key));
}

/// first `relation` second must hold; `holds` compares their numbers.
ConfigRule ordered(const std::string& first, const std::string& second, const std::string& relation,
                   bool (*holds)(double, double)) {
  return {{first, second}, [=](const Config& c) {
            return holds(c.real(first), c.real(second)) ? ""
                                                        : fmt::format("must be {} {}", relation, with_value(c, second));
          }};
}

ConfigRule at_most(const std::string& first, const std::string& second) {
  return {{first, second}, [=](const Config& c) {
            return c.integer(first) <= c.integer(second) ? "" : fmt::format("must be <= {}", with_value(c, second));
          }};
}

bool less(double a, double b) { return a < b; }
bool less_or_equal(double a, double b) { return a <= b; }

ConfigRule heads_divide_channels() {
  return {{"model.heads", "model.channels"}, [](const Config& c) {
            return c.integer("model.channels") % c.integer("model.heads") == 0
                       ? ""
                       : fmt::format("must divide {}", with_value(c, "model.channels"));
          }};
}

/// "auto" and "off" stand alone.
ConfigRule references_of_a_task() {
  return {{"task.references"}, [](const Config& c) {
            const auto& models = c.texts("task.references");
            const auto alone = [](const std::string& one) { return one == "auto" || one == "off"; };
            if (models.empty()) return std::string("must name a model, or be \"auto\" or \"off\"");
            if (models.size() > 1 && std::any_of(models.begin(), models.end(), alone)) {
              return std::string("\"auto\" and \"off\" stand alone");
            }
            return std::string();
          }};
}

/// What the mixer itself requires of its sizes.
ConfigRule mixer_sizes() {
  std::vector<std::string> keys = {"model.mixer", "model.channels", "model.heads"};
  for (const ParamRow& row : mixer_rows("model.mixer", force_mixers())) keys.push_back(row.key);
  return {keys, [](const Config& c) {
            const MixerChoice choice = mixer_choice(c);
            if (choice.is_fused()) return std::string();
            try {
              mixer_spec(choice);
            } catch (const UserError& error) {
              return std::string(error.what());
            }
            return std::string();
          }};
}

ConfigRule starting_damping_in_bounds() {
  return {{"model.damping", "damping.minimum", "damping.maximum", "damping.control"}, [](const Config& c) {
            const double damping = c.real("model.damping");
            const bool inside = damping >= c.real("damping.minimum") && damping <= c.real("damping.maximum");
            if (!c.flag("damping.control") || inside) return std::string();
            return fmt::format("must lie between {} and {}", with_value(c, "damping.minimum"),
                               with_value(c, "damping.maximum"));
          }};
}

/// Euler on dz/dt = -(1 + s c) z, the stiffest part that is always there, is stable for eps (1 + s c) < 2, and that for
/// every c that a run may come to: with damping.control up to damping.maximum.
ConfigRule stable_step() {
  return {{"relaxation.step", "relaxation.solver", "model.attention_gain", "model.damping", "damping.control",
           "damping.maximum"},
          [](const Config& c) {
            const bool controlled = c.flag("damping.control");
            const double largest = controlled ? c.real("damping.maximum") : c.real("model.damping");
            const double rate = network_kind(c).leak(c).at(largest);
            if (c.text("relaxation.solver") != "euler" || c.real("relaxation.step") * rate < 2) return std::string();
            const std::string limit = format_quantity(2 / rate, Unit::none, 4);
            if (!controlled) return fmt::format("must be < 2/(1 + s c) = {}, or 0 for relaxation.step_fraction", limit);
            return fmt::format(
                "must be < 2/(1 + s c) = {} for every c up to {}, which damping.control may reach; lower that, switch "
                "damping.control off, or 0 for relaxation.step_fraction",
                limit, with_value(c, "damping.maximum"));
          }};
}

ConfigRule text_left_for_training() {
  return {{"data.test_fraction", "data.validation_fraction"}, [](const Config& c) {
            return c.real("data.test_fraction") + c.real("data.validation_fraction") < 1
                       ? ""
                       : fmt::format("must leave something to train on beside {}",
                                     with_value(c, "data.validation_fraction"));
          }};
}

/// What is reported must come from seeds that no choice was made with.
ConfigRule fresh_test_seeds() {
  return {{"compare.test_seeds", "compare.tuning_seeds"}, [](const Config& c) {
            const auto& tuning = c.integers("compare.tuning_seeds");
            for (const std::int64_t seed : c.integers("compare.test_seeds")) {
              if (std::find(tuning.begin(), tuning.end(), seed) == tuning.end()) continue;
              return fmt::format("must be fresh: {} is in {}", seed, with_value(c, "compare.tuning_seeds"));
            }
            return std::string();
          }};
}

/// A row that stays empty would be read, and paid for, with the others of its state.
ConfigRule side_by_side_divides_batch() {
  return {{"data.side_by_side", "train.batch"}, [](const Config& c) {
            const std::int64_t rows = c.integer("data.side_by_side");
            return rows == 0 || c.integer("train.batch") % rows == 0
                       ? ""
                       : fmt::format("must divide {}, or be 0", with_value(c, "train.batch"));
          }};
}

ConfigRule above_one_or_off(const std::string& key) {
  return {{key}, [key](const Config& c) {
            const double ratio = c.real(key);
            return ratio == 0 || ratio > 1 ? "" : "must be > 1, or 0 for none";
          }};
}

ConfigRule even_points() {
  return {{"nudge.points"}, [](const Config& c) { return c.integer("nudge.points") % 2 == 0 ? "" : "must be even"; }};
}

/// Pulse trains carry the factors of one batch straight to the devices: there is no gradient that a rule could keep a
/// memory of, divide by its size or clip.
ConfigRule coincidence_is_plain_sgd(const std::string& key, bool (*fits)(const Config&), const std::string& rule) {
  return {{key, "crossbar.update", "crossbar.fast_update", "device.model"}, [=](const Config& c) {
            const bool own = c.text("crossbar.update") == "coincidence";
            const bool fast = c.text("crossbar.fast_update") == "coincidence" &&
                              find_rule(c.text("crossbar.update")) != nullptr &&
                              find_rule(c.text("crossbar.update"))->arrays(RuleSpec{}) > 1;
            if ((!own && !fast) || c.text("device.model") == "digital" || fits(c)) return std::string();
            return fmt::format(
                "{} for crossbar.{} = coincidence: pulse trains apply x and y of each sample to the "
                "devices and never form the gradient",
                rule, own ? "update" : "fast_update");
          }};
}

/// Devices that a lane could freeze.
ConfigRule null_needs_devices() {
  return {{"train.null", "device.model", "crossbar.update"}, [](const Config& c) {
            if (c.text("train.null") != "frozen_devices") return "";
            if (c.text("device.model") == "digital")
              return "must be none or auto for device.model = digital: there are no devices to freeze";
            if (c.text("crossbar.update") == "none")
              return "must be none or auto for crossbar.update = none: the devices of the run itself are frozen";
            return "";
          }};
}

/// A correction that comes after the phase corrects nothing; the path keeps what is on its way.
ConfigRule delay_within_phase() {
  return {{"correction.delay", "relaxation.nudged_steps", "relaxation.step", "relaxation.step_fraction"},
          [](const Config& c) {
            const double phase = static_cast<double>(c.integer("relaxation.nudged_steps")) *
                                 RelaxationStep(c).at(c.real("model.damping"));
            return c.real("correction.delay") <= phase
                       ? ""
                       : fmt::format("must be within the nudged phase: {} steps last {} tau",
                                     c.integer("relaxation.nudged_steps"), format_quantity(phase, Unit::none, 4));
          }};
}

/// What the phases ask of the rest, and the estimators; the keys that they name place the message.
ConfigRule phase_fits(const std::string& key) {
  return {{key}, [key](const Config& c) { return phase_misfit(c, key); }};
}

ConfigRule estimator_fits(const std::string& key) {
  return {{key}, [key](const Config& c) {
            const Layer layer = c.origin(key).layer;  // what physical devices imply is no choice
            const bool set = (layer == Layer::file || layer == Layer::option) && !c.at_default(key);
            const bool chosen = network_kind(c).is_circuit() || set;
            const std::string misfit = chosen ? estimator_misfit(c, c.text(key)) : "";
            return misfit.empty() ? "" : "does not fit: " + misfit;
          }};
}

ConfigRule rotary_needs_even_heads() {
  return {{"model.heads", "model.channels", "network.kind", "transformer.positions"}, [](const Config& c) {
            const bool rotary = c.text("network.kind") == "transformer" && c.text("transformer.positions") == "rotary";
            return rotary && c.integer("model.channels") / c.integer("model.heads") % 2 != 0
                       ? fmt::format("must leave heads of an even width for transformer.positions = rotary, {}",
                                     with_value(c, "model.channels"))
                       : "";
          }};
}

ConfigRule transformer_has_hidden_units() {
  return {{"model.memories", "network.kind"}, [](const Config& c) {
            return c.text("network.kind") == "transformer" && c.integer("model.memories") == 0
                       ? "must be at least 1 for network.kind = transformer: its hidden units"
                       : "";
          }};
}

ConfigRule trainings_are_tested() {
  return {{"sweep.test", "sweep.run"}, [](const Config& c) {
            return c.flag("sweep.test") && c.text("sweep.run") != "train" ? "must be false unless sweep.run = train"
                                                                          : "";
          }};
}

ConfigRule gradcheck_needs_circuit() {
  return {{"sweep.run", "network.kind"}, [](const Config& c) {
            return c.text("sweep.run") != "train" && !network_kind(c).is_circuit()
                       ? fmt::format("must be train for network.kind = {}, which learns by backprop itself",
                                     network_kind(c).name)
                       : "";
          }};
}

ConfigRule text_needs_characters() {
  return {{"data.text", "task.kind"}, [](const Config& c) {
            return c.text("task.kind") != "characters" && !c.text("data.text").empty()
                       ? fmt::format("must be empty unless task.kind = characters: {} has no text", c.text("task.kind"))
                       : "";
          }};
}

ConfigRule two_arrays_need_memories() {
  return {{"model.memory_arrays", "model.memories"}, [](const Config& c) {
            return c.integer("model.memory_arrays") == 2 && c.integer("model.memories") == 0
                       ? "must be 1 where model.memories = 0"
                       : "";
          }};
}

/// The second array of a memory that nothing corrects is driven by the state.
ConfigRule difference_needs_one_array() {
  return {{"nudge.drive", "model.memory_arrays", "correction.scope"}, [](const Config& c) {
            const bool uncovered = c.integer("model.memory_arrays") == 2 && c.text("correction.scope") != "full";
            return c.text("nudge.drive") == "difference" && uncovered
                       ? "must be state for a memory on two arrays unless correction.scope = full"
                       : "";
          }};
}

}  // namespace

std::vector<ConfigRule> program_rules() {
  std::vector<ConfigRule> rules = {
      heads_divide_channels(),
      mixer_sizes(),
      references_of_a_task(),
      ordered("device.g_min", "device.g_max", "<", less),
      ordered("damping.low", "damping.high", "<", less),
      ordered("damping.minimum", "damping.maximum", "<=", less_or_equal),
      starting_damping_in_bounds(),
      stable_step(),
      at_most("relaxation.average_free", "relaxation.free_steps"),
      at_most("relaxation.average_nudged", "relaxation.nudged_steps"),
      above_one_or_off("train.skip_ratio"),
      above_one_or_off("train.leave_out_ratio"),
      side_by_side_divides_batch(),
      text_left_for_training(),
      fresh_test_seeds(),
      even_points(),
      beta_above_rounding(),
      two_arrays_need_memories(),
      difference_needs_one_array(),
      coincidence_is_plain_sgd(
          "train.optimizer", [](const Config& c) { return c.text("train.optimizer") == "sgd"; },
          "must be sgd (adam needs the gradient and its square)"),
      coincidence_is_plain_sgd(
          "train.momentum",
          [](const Config& c) { return c.text("train.optimizer") != "sgd" || c.real("train.momentum") == 0; },
          "must be 0"),
      coincidence_is_plain_sgd(
          "train.gradient_clip", [](const Config& c) { return c.real("train.gradient_clip") == 0; },
          "must be 0 (no norm to clip)"),
      coincidence_is_plain_sgd(
          "train.weight_decay", [](const Config& c) { return c.real("train.weight_decay") == 0; }, "must be 0"),
      null_needs_devices(),
      gradcheck_needs_circuit(),
      trainings_are_tested(),
      text_needs_characters(),
      estimator_fits("estimator"),
      estimator_fits("train.beside"),
      rotary_needs_even_heads(),
      transformer_has_hidden_units(),
      delay_within_phase(),
      phase_fits("relaxation.solver"),
      phase_fits("relaxation.schedule"),
      phase_fits("nudge.form")};
  for (const auto more : {kind_rules, hopfield_rules, netlist_rules, oscillation_rules, local_rules, motion_rules,
                          preset_rules, gradcheck_rules}) {
    for (ConfigRule& rule : more()) rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace nudge
