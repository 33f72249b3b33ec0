// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "circuits/rules/rule_kinds.hpp"
#include "devices/presets.hpp"
#include "sim/base/errors.hpp"
#include "training/config/assembly.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/rounding.hpp"
#include "training/config/rows.hpp"
#include "training/config/run_options.hpp"
#include "training/data/data_options.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/models/model_options.hpp"
#include "training/models/registry.hpp"

namespace nudge {

ConfigRule must(std::vector<std::string> keys, const std::string& text, bool (*holds)(const Config&)) {
  return {std::move(keys), [=](const Config& c) {
            std::string told = holds(c) ? "" : text;
            for (std::size_t at = told.find('{'); at != std::string::npos; at = told.find('{', at)) {
              const std::size_t end = told.find('}', at);
              const std::string key = told.substr(at + 1, end - at - 1), value = c.as_text(key);
              told.replace(at, end - at + 1, key + " = " + value);
              at += key.size() + value.size();
            }
            return told;
          }};
}

bool is_sgd(const Config& c) { return c.text("train.optimizer") == "sgd"; }
bool has_no_momentum(const Config& c) { return !is_sgd(c) || c.real("train.momentum") == 0; }
bool has_no_decay(const Config& c) { return c.real("train.weight_decay") == 0; }
bool has_no_mean(const Config& c) { return c.real("nudge.running_mean") == 0; }
bool has_no_clip(const Config& c) { return c.real("train.gradient_clip") == 0; }

namespace {

bool is_off_or_above_one(double ratio) { return ratio == 0 || ratio > 1; }

/// The step of the relaxation at the initial damping, in units of tau.

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

/// What is reported must come from seeds that no choice was made with.
std::string used_test_seed(const Config& c) {
  const auto& tuning = c.integers("compare.tuning_seeds");
  for (const std::int64_t seed : c.integers("compare.test_seeds")) {
    if (std::find(tuning.begin(), tuning.end(), seed) == tuning.end()) continue;
    return fmt::format("must be fresh: {} is in compare.tuning_seeds = {}", seed, c.as_text("compare.tuning_seeds"));
  }
  return "";
}

/// "auto" and "off" stand alone.
std::string wrong_references(const Config& c) {
  const auto& models = c.texts("task.references");
  const auto alone = [](const std::string& one) { return one == "auto" || one == "off"; };
  if (models.empty()) return "must name a model, or be \"auto\" or \"off\"";
  return models.size() > 1 && std::any_of(models.begin(), models.end(), alone) ? "\"auto\" and \"off\" stand alone"
                                                                               : "";
}

std::vector<ConfigRule> size_rules() {
  return {
      must({"model.heads", "model.channels"}, "must divide {model.channels}",
           [](const Config& c) { return c.integer("model.channels") % c.integer("model.heads") == 0; }),
      mixer_sizes(),
      {{"task.references"}, wrong_references},
      must({"device.g_min", "device.g_max"}, "must be < {device.g_max}",
           [](const Config& c) { return c.real("device.g_min") < c.real("device.g_max"); }),
      must({"damping.low", "damping.high"}, "must be < {damping.high}",
           [](const Config& c) { return c.real("damping.low") < c.real("damping.high"); }),
      must({"damping.minimum", "damping.maximum"}, "must be <= {damping.maximum}",
           [](const Config& c) { return c.real("damping.minimum") <= c.real("damping.maximum"); }),
      must({"model.damping", "damping.minimum", "damping.maximum", "damping.control"},
           "must lie between {damping.minimum} and {damping.maximum}",
           [](const Config& c) {
             const double damping = c.real("model.damping");
             return !c.flag("damping.control") ||
                    (damping >= c.real("damping.minimum") && damping <= c.real("damping.maximum"));
           }),
      must({"train.skip_ratio"}, "must be > 1, or 0 for none",
           [](const Config& c) { return is_off_or_above_one(c.real("train.skip_ratio")); }),
      must({"train.leave_out_ratio"}, "must be > 1, or 0 for none",
           [](const Config& c) { return is_off_or_above_one(c.real("train.leave_out_ratio")); }),
      // A row that stays empty would be read, and paid for, with the others of its state.
      must({"data.side_by_side", "train.batch"}, "must divide {train.batch}, or be 0",
           [](const Config& c) {
             const std::int64_t rows = c.integer("data.side_by_side");
             return rows == 0 || c.integer("train.batch") % rows == 0;
           }),
      must({"data.test_fraction", "data.validation_fraction"},
           "must leave samples to train on with {data.validation_fraction}",
           [](const Config& c) { return c.real("data.test_fraction") + c.real("data.validation_fraction") < 1; }),
      {{"compare.test_seeds", "compare.tuning_seeds"}, used_test_seed},
  };
}

/// Pulse trains carry the factors of one batch straight to the devices: there is no gradient that a rule could keep a
/// memory of, divide by its size or clip.
ConfigRule coincidence_is_plain_sgd(const std::string& key, const std::string& rule, bool (*fits)(const Config&)) {
  return {{key, "crossbar.update", "crossbar.fast_update", "device.model"}, [=](const Config& c) {
            const RuleKind* kind = find_rule(c.text("crossbar.update"));
            const bool own = c.text("crossbar.update") == "coincidence";
            const bool fast =
                c.text("crossbar.fast_update") == "coincidence" && kind != nullptr && kind->arrays(RuleSpec{}) > 1;
            if ((!own && !fast) || c.text("device.model") == "digital" || fits(c)) return std::string();
            return fmt::format(
                "{} for crossbar.{} = coincidence: its pulse trains apply x and y of each sample and never form the "
                "gradient",
                rule, own ? "update" : "fast_update");
          }};
}

/// Nulls that a run cannot have.
std::string nothing_to_freeze(const Config& c) {
  if (c.text("train.null") == "auto" || c.text("train.null") == "off") return "";
  if (c.text("device.model") == "digital")
    return "must be off or auto for device.model = digital: there are no devices to freeze";
  if (c.text("crossbar.update") == "none")
    return "must be off or auto for crossbar.update = none: this run itself has frozen devices";
  return "";
}

std::vector<ConfigRule> update_rules() {
  return {
      must({"nudge.points"}, "must be even", [](const Config& c) { return c.integer("nudge.points") % 2 == 0; }),
      beta_above_rounding(),
      must({"model.memory_arrays", "model.memories"}, "must be 1 where model.memories = 0",
           [](const Config& c) { return c.integer("model.memory_arrays") != 2 || c.integer("model.memories") > 0; }),
      // The second array of a memory that nothing corrects is driven by the state.
      must({"nudge.drive", "model.memory_arrays", "correction.scope"},
           "must be state for a memory on two arrays unless correction.scope = full",
           [](const Config& c) {
             return c.text("nudge.drive") != "difference" || c.integer("model.memory_arrays") != 2 ||
                    c.text("correction.scope") == "full";
           }),
      coincidence_is_plain_sgd("train.optimizer", "must be sgd (adam needs the gradient and its square)", is_sgd),
      coincidence_is_plain_sgd("train.momentum", "must be 0", has_no_momentum),
      coincidence_is_plain_sgd("nudge.running_mean", "must be 0", has_no_mean),
      coincidence_is_plain_sgd("train.gradient_clip", "must be 0 (no norm to clip)", has_no_clip),
      coincidence_is_plain_sgd("train.weight_decay", "must be 0", has_no_decay),
      {{"train.null", "device.model", "crossbar.update"}, nothing_to_freeze},
  };
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

/// A correction that comes after the phase corrects nothing; the path keeps what is on its way.
std::string late_correction(const Config& c) {
  const std::int64_t steps = c.integer("relaxation.nudged_steps");
  const double phase = static_cast<double>(steps) * initial_step(c);
  return c.real("correction.delay") <= phase ? ""
                                             : fmt::format("must be within the nudged phase: {} steps last {} tau",
                                                           steps, format_quantity(phase, Unit::none, 4));
}

std::vector<ConfigRule> run_rules() {
  return {
      {{"sweep.run", "network.kind"},
       [](const Config& c) {
         return c.text("sweep.run") == "train" || network_kind(c).is_circuit()
                    ? ""
                    : fmt::format("must be train for network.kind = {}: it learns by backprop", network_kind(c).name);
       }},
      must({"sweep.test", "sweep.run"}, "must be false unless sweep.run = train",
           [](const Config& c) { return !c.flag("sweep.test") || c.text("sweep.run") == "train"; }),
      {{"data.text", "task.kind"},
       [](const Config& c) {
         const std::string& task = c.text("task.kind");
         return task == "characters" || c.text("data.text").empty()
                    ? ""
                    : fmt::format("must be empty unless task.kind = characters: {} has no text", task);
       }},
      estimator_fits("estimator"),
      estimator_fits("train.beside"),
      must({"model.heads", "model.channels", "network.kind", "transformer.positions"},
           "must give heads an even width for transformer.positions = rotary, {model.channels}",
           [](const Config& c) {
             return c.text("network.kind") != "transformer" || c.text("transformer.positions") != "rotary" ||
                    c.integer("model.channels") / c.integer("model.heads") % 2 == 0;
           }),
      must({"model.memories", "network.kind"}, "must be at least 1 for network.kind = transformer: its hidden units",
           [](const Config& c) { return c.text("network.kind") != "transformer" || c.integer("model.memories") > 0; }),
      {{"correction.delay", "relaxation.nudged_steps", "relaxation.step", "relaxation.step_fraction"}, late_correction},
      phase_fits("relaxation.solver"),
      phase_fits("relaxation.schedule"),
      phase_fits("nudge.form"),
  };
}

/// Half the distance from 1 to the next number: x + d is x where |d| is below this share of |x|.
double rounding_unit(const Config& c) { return c.text("precision") == "double" ? 0x1p-53 : 0x1p-24; }

std::string number_text(double value) { return format_quantity(value, Unit::none, 3); }

/// A step moves a state by at most about eps of its own size, its distance to the equilibrium: all of it is rounded away below one
/// rounding unit. From z = 0 it would come eps T1 of the way, a millionth in 24 steps of single precision.
ConfigRule state_moves(const std::string& key, bool of_step) {
  return {{key, "precision", "relaxation.step"}, [of_step](const Config& c) {
            const double step = initial_step(c);
            if ((c.real("relaxation.step") > 0) != of_step || step >= rounding_unit(c)) return std::string();
            return fmt::format(
                "makes steps of {}, which must be at least {}, one rounding unit of precision = {}. Below it z + "
                "eps F = z, and the state never moves",
                number_text(step), number_text(rounding_unit(c)), c.text("precision"));
          }};
}

/// Adam's step is about the learning rate whatever the gradient (Kingma and Ba, arXiv:1412.6980, section 2.1), a comparator's is: weights of 1e-3 or more
/// round it away below 1e-3 units. A step of sgd is as large as the gradient makes it; below a unit squared one of 1/unit times the
/// weight would be needed.
std::string still_weights(const Config& c) {
  const double unit = rounding_unit(c), least = is_sgd(c) ? unit * unit : 1e-3 * unit;
  if (c.real("train.learning_rate") >= least) return "";
  return fmt::format(
      "must be at least {}: steps of {} are below one rounding unit of the weights in precision = {}, so no weight "
      "would move",
      number_text(least), c.text("train.optimizer"), c.text("precision"));
}

/// Keys of [device] replace those of a preset: `--set device.preset=reram_es` of a file with another model would give that model the numbers
/// of reram_es. Exact numbers and ideal elements have none, and a model that is chosen along with the preset is meant.
std::string model_of_another_preset(const Config& c) {
  const std::string name = c.text("device.preset"), model = c.text("device.model");
  const bool meant = c.origin("device.preset").layer != Layer::option || c.origin("device.model").layer != Layer::file;
  if (name.empty() || meant || model == digital_model || model == "ideal") return "";
  const std::string& own = device_preset(name).spec.model;
  if (model == own) return "";
  return fmt::format(
      "must be {} with device.preset = {}: keys of [device] in a file replace those of a preset, whose numbers are "
      "for its model. Take them out of the file",
      own, name);
}

std::vector<ConfigRule> rounding_rules() {
  return {state_moves("relaxation.step", true),
          state_moves("relaxation.step_fraction", false),
          {{"train.learning_rate", "train.optimizer", "precision"}, still_weights},
          {{"device.model", "device.preset"}, model_of_another_preset}};
}

/// Of those that were asked for by name; the defaults and `all` leave out what does not fit.
std::string compared_misfit(const Config& c) {
  if (c.at_default("gradcheck.estimators")) return "";
  for (const std::string& name : c.texts("gradcheck.estimators")) {
    const std::string misfit = estimator_misfit(c, name);
    if (!misfit.empty()) return fmt::format("names {}, which does not fit: {}; or use all", name, misfit);
  }
  return "";
}

/// Beside every step of a nudged phase stands one of bptt, which unrolls Euler steps of all nodes.
std::string unrecordable(const Config& c) {
  const GradcheckOptions check = gradcheck_section().read(c);
  if (check.record.empty()) return "";
  if (const std::string misfit = estimator_misfit(c, "bptt"); !misfit.empty()) {
    return "must be [], because bptt cannot follow the steps: " + misfit;
  }
  const PhaseOptions phases = phase_options(c);
  if (phases.sweeps()) return "must be [] unless relaxation.schedule = parallel";
  if (phases.phases.oscillation.on()) return "must be [] unless nudge.form = static";
  if (*std::max_element(check.record.begin(), check.record.end()) >= c.integer("train.batch")) {
    return fmt::format("must be samples of the first batch, below train.batch = {}", c.integer("train.batch"));
  }
  const bool nudges = std::any_of(check.estimators.begin(), check.estimators.end(), [&](const auto& name) {
    const EstimatorKind* kind = find_estimator(name);
    return name == "all" || (kind != nullptr && kind->correlates_states() && estimator_misfit(c, name).empty());
  });
  return nudges ? "" : "must be [] unless gradcheck.estimators has one that nudges, as ep does";
}

/// Of the command `gradcheck` alone: the same file may train.
std::vector<ConfigRule> gradcheck_needs() {
  return {{{"gradcheck.estimators"}, compared_misfit}, {{"gradcheck.record"}, unrecordable}};
}

std::vector<ConfigRule> gradcheck_rules() {
  return {
      must({"gradcheck.estimators"}, "must name one, or all",
           [](const Config& c) { return !c.texts("gradcheck.estimators").empty(); }),
      must({"gradcheck.reference", "gradcheck.weights"},
           "must be circuit or device unless gradcheck.weights = programmed",
           [](const Config& c) {
             return c.text("gradcheck.reference") != "nominal" || c.text("gradcheck.weights") == "programmed";
           }),
      must({"gradcheck.age", "gradcheck.weights"},
           "must be 0 unless gradcheck.weights = programmed: only programmed devices wait",
           [](const Config& c) { return c.real("gradcheck.age") == 0 || c.text("gradcheck.weights") == "programmed"; }),
  };
}

}  // namespace

void expect_gradcheck(const Config& config) {
  std::vector<std::string> problems;
  for (const ConfigRule& rule : gradcheck_needs()) {
    const std::string& key = rule.keys.front();
    if (const std::string broken = rule.broken(config); !broken.empty())
      problems.push_back(fmt::format("{} = {} ({})", key, config.as_text(key), broken));
  }
  if (!problems.empty()) throw UserError(fmt::format("{}", fmt::join(problems, "\n")));
}

std::vector<ConfigRule> program_rules() {
  std::vector<ConfigRule> rules;
  for (const auto more : {size_rules, update_rules, run_rules, kind_rules, network_rules, motion_rules, local_rules,
                          rounding_rules, gradcheck_rules}) {
    for (ConfigRule& rule : more()) rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace nudge
