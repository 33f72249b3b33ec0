// SPDX-License-Identifier: Apache-2.0
#include "training/train/train_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "devices/device_config.hpp"
#include "devices/spreads.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/units.hpp"
#include "training/check/choices.hpp"
#include "training/check/gradient_forecast.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/rounding.hpp"
#include "training/config/run_options.hpp"
#include "training/config/train_options.hpp"
#include "training/models/registry.hpp"
#include "training/models/tells_notes.hpp"
#include "training/train/equilibrium_verdict.hpp"

namespace nudge {
namespace {

/// Cosines of the last comparison, per group; empty without one.
std::vector<GroupCosine> last_cosines(const NetworkPlan* plan, const std::vector<double>& cosines) {
  std::vector<GroupCosine> out;
  if (plan == nullptr || cosines.empty()) return out;
  const auto groups = plan->groups();
  for (std::size_t g = 0; g < groups.size() && cosines.size() >= groups.size(); ++g) {
    out.push_back({groups[g].name, cosines[cosines.size() - groups.size() + g]});
  }
  return out;
}

constexpr const char *kRose = "the loss rose", *kEnds = "the loss ends";

/// True where the last check of the free phases found nothing to learn from. A run that beats a constant answer has learnt: it takes the
/// last three, or all, and units that saturate are no failure, since samples that are right ask nothing of them.
bool unsound(const TrainLog& log, bool learnt) {
  if (!learnt) return !logged_verdict(log).sound();
  std::size_t checks = 0;
  for (; checks < hopeless_checks; ++checks) {
    const Equilibrium one = logged_verdict(log, checks);
    if (!one.known()) break;
    if (one.rests() && one.holds()) return false;
  }
  return checks > 0;
}

/// Losses over a run: the validation losses, or the training losses where there are fewer than two of those.
const std::vector<double>& losses_over_run(const TrainLog& log) {
  const std::vector<double>& validation = log.values("train/validation_loss");
  return validation.size() > 1 ? validation : log.values("train/loss");
}

/// True if a run ends within 1 % of the loss that it began with, or above.
bool has_not_fallen(const TrainLog& log) {
  const std::vector<double>& losses = losses_over_run(log);
  return !losses.empty() && losses.back() > 0.99 * losses.front();
}

/// True if most states had not settled at any of the last checks that could have ended the run.
bool never_rested(const TrainLog& log) {
  for (std::size_t k = 0; k < hopeless_checks; ++k) {
    if (!(logged_verdict(log, k).settled < 0.5)) return false;
  }
  return true;
}

/// Text on a run that ended where its loss tells of nothing learnt; empty: it does not. Ten times its start or more, and above every constant
/// answer, surely, or by ten times as well: a mean that single samples made so large has no significance. Or a thousand times that of the
/// constant answer, of classes whatever the start: values may begin so far off. A squared error is then of outputs that are √1000 = 32
/// standard deviations of the targets off.
/// A cross-entropy of two classes is 693 nat, a probability of 1e-301 of what is right: nothing, in double. Where no constant answer is
/// known it is a thousand times the start.
std::string lost_by(const TrainLog& log, const std::optional<ConstantGain>& constant, double own, bool classes) {
  constexpr double kTimes = 10, kFar = 1000;
  const std::vector<double>& losses = losses_over_run(log);
  if (losses.empty()) return "";
  const double start = losses.front(), end = constant ? own : losses.back();
  const double worse = constant && constant->loss > 0 ? end / constant->loss : 0;
  const bool above = !constant || constant->gain.high < 0 || worse > kTimes;
  if (start > 0 && above && end > (constant ? kTimes : kFar) * start)
    return fmt::format("{} from {:.4g} to {:.4g}{}", kRose, start, end,
                       constant ? ", above that of a constant answer" : "");
  return worse > kFar && classes
             ? fmt::format("{} at {:.4g}, {:.2g} times that of a constant answer", kEnds, end, worse)
             : "";
}

/// Text of a run's failure, by which it is no result; empty: it is one. A constant answer that is better is no failure alone, nor are states
/// that do not settle.
std::string failure_of(const TrainSummary& s, const TrainingLoop& loop, const std::optional<ConstantGain>& constant) {
  if (!loop.stuck().empty()) return "stopped: " + loop.stuck();
  const TrainLog& log = loop.main_run().log();
  const double nonfinite = s.of("nonfinite"), steps = static_cast<double>(s.done);
  if (s.done > 0 && nonfinite + s.of("skipped") == steps) return "no step was accepted";
  if (nonfinite > 0.5 * steps) return fmt::format("{:.0f} of {} steps were not finite", nonfinite, s.done);
  const auto test_loss = s.values.find("test_loss");
  if (!std::isfinite(s.of("validation_loss")) || (test_loss && !std::isfinite(*test_loss)) ||
      (s.done > 0 && !std::isfinite(s.of("final_loss")))) {
    return "the loss is not finite";
  }
  const bool restless = never_rested(log) && constant && constant->gain.high < 0 && has_not_fallen(log);
  if (restless || unsound(log, constant && constant->gain.low > 0)) return finding(s.equilibrium);
  if (!loop.finished()) return "";
  return lost_by(log, constant, s.of(constant && constant->part == "test" ? "test_loss" : "validation_loss"),
                 s.metric == "accuracy");
}

/// Note on a run that a constant answer beats.
std::string below_constant_note(const ConstantGain& constant, const std::string& unit) {
  const LossGain& gain = constant.gain;
  const std::string suffix = unit == "nat" ? " nat" : "";
  return fmt::format(
      "the {} loss is {:.4g}{} [{:.4g}, {:.4g}] above that of the best constant answer (95 %, {} samples): the run "
      "has not learnt to distinguish its inputs",
      constant.part, -gain.won, suffix, -gain.high, -gain.low, gain.samples);
}

/// Advice for a run that failed so.
std::string failure_advice(const Config& config, bool circuit, const Equilibrium& equilibrium,
                           const std::string& failure) {
  std::string rate = "a smaller train.learning_rate";
  if (!circuit || failure.starts_with(kRose) || failure.starts_with(kEnds)) return rate;
  if (!equilibrium.sound() || failure == finding(equilibrium)) return remedy(equilibrium);
  const char* transposed = "aep_transposed";
  const bool fits = run_options(config).estimator != transposed && estimator_misfit(config, transposed).empty();
  const std::string beta = training_reads(config, "beta") ? beta_advice(config) : "";
  if (fits) return fmt::format("{}{}{}, or estimator = \"{}\"", beta, beta.empty() ? "" : ", ", rate, transposed);
  return beta.empty() ? rate : beta + " or " + rate;
}

}  // namespace

TrainSummary summarise(const Config& config, const TrainingLoop& loop, const NetworkPlan* plan) {
  TrainSummary s;
  const TrainLog& log = loop.main_run().log();
  s.done = loop.done();
  s.values = run_values(config, &loop);
  s.metric = score_metric(config);
  s.group_cosines = last_cosines(plan, log.values("train/cosine"));
  const TrainOptions options = train_options(config);
  if (loop.named("beside") != nullptr) s.beside = options.beside;
  s.null = null_result(loop, plan);
  const std::optional<ConstantGain> constant = constant_gain(loop);
  if (loop.finished() && s.done > 0) s.plateau = plateau_of(log);
  if (s.of("hardware/devices") > 0) {
    s.token_use = config.text("circuit.tokens");
    s.tokens = coupled_rows(config);
    if (plan != nullptr) s.readings = run_readings(log, *plan);
  }
  const double simulated_s = s.of("hardware/phase_time_s") * static_cast<double>(options.batch);
  const double step_s = options.step_time > 0 ? options.step_time : simulated_s;
  s.notes = loop.task().notes();
  if (const auto* telling = dynamic_cast<const TellsNotes*>(plan)) {
    for (std::string& note : telling->notes()) s.notes.push_back(std::move(note));
  }
  for (std::string& note : device_notes(
           config, {step_s * static_cast<double>(loop.done()), simulated_s * static_cast<double>(loop.done())}))
    s.notes.push_back(std::move(note));
  for (const std::string& event : log.events()) {
    if (event.starts_with(noise_text_begins) || event.starts_with(no_forecast_begins)) s.notes.push_back(event);
  }
  const double snr = s.of("nudge_snr");
  if (snr < 1) s.notes.push_back(drowned_note(snr));
  if (const double cosine = s.of("expected_cosine"); cosine < fair_cosine) {
    s.notes.push_back(fmt::format("the expected cosine of the gradient with the exact one ends at {:.2g} (below {})",
                                  cosine, fair_cosine));
  }
  s.stopped = loop.stopped();
  s.equilibrium = logged_verdict(log);
  s.equilibrium.keys = advisable_keys(config);
  if (!s.equilibrium.clean()) s.notes.push_back(sentence(s.equilibrium));
  s.failure = failure_of(s, loop, constant);
  // Of a text counting letters says the same (TrainSummary::lines).
  if (!s.metric.empty() && s.failure.empty() && loop.finished() && constant && constant->gain.high < 0)
    s.notes.push_back(below_constant_note(*constant, s.plateau ? s.plateau->unit : ""));
  if (!s.failure.empty()) {
    s.advice = failure_advice(config, plan != nullptr, s.equilibrium, s.failure);
    s.plateau.reset();  // the trend of a run that failed is no advice
  }
  return s;
}

namespace {

constexpr double least_share = 0.01;

}  // namespace

std::vector<std::string> device_notes(const Config& config, const Elapsed& time) {
  const DeviceSpec spec = device_spec(config);
  std::vector<std::string> notes;
  const double elapsed_s = time.seconds;
  if (spec.model == digital_model || !std::isfinite(elapsed_s)) return notes;
  struct Effect {
    bool on;
    const char *name, *key;
    double time_s;
  };
  const RetentionSpec& r = spec.retention;
  for (const Effect& effect : {Effect{r.drifts(), "drift", "device.drift_start", r.drift_start_s},
                               Effect{r.decays(), "decay", "device.decay_start", r.decay_start_s},
                               Effect{r.leaks(), "leak", "device.leak_time", r.leak_time_s}}) {
    if (!effect.on || elapsed_s >= least_share * effect.time_s) continue;
    notes.push_back(
        fmt::format("{} does not act in this run: it lasted {} for the devices, {:.2g} % of {} = {}. Set "
                    "train.step_time to the real time of a step (docs/reference/devices.md gives values)",
                    effect.name, format_quantity(elapsed_s, Unit::second, 3), 100 * elapsed_s / effect.time_s,
                    effect.key, format_quantity(effect.time_s, Unit::second, 3)));
  }
  if (r.disturbs() && time.read_s < least_share * r.read_disturb_time_s) {
    notes.push_back(fmt::format(
        "read disturb does not act in this run: the devices were read for {}, {:.2g} % of device.read_disturb_time "
        "= {}. Phases of training are short; nudge.Crossbar.advance_time in Python reads for longer",
        format_quantity(time.read_s, Unit::second, 3), 100 * time.read_s / r.read_disturb_time_s,
        format_quantity(r.read_disturb_time_s, Unit::second, 3)));
  }
  if (const std::string cut = cut_warning(spec); !cut.empty()) notes.push_back(cut);
  return notes;
}

}  // namespace nudge
