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
#include "training/config/phase_options.hpp"
#include "training/config/rounding.hpp"
#include "training/config/train_options.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

/// Residual of no equilibrium: where ‖F‖ ≥ ‖z‖ the state changes by its own size within a τ.
constexpr double kUnsettled = 1;

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

constexpr const char* kNotSettled = "it does not settle";

/// Text of a run's failure, by which it is no result; empty: it is one.
std::string failure_of(const TrainSummary& s, const TrainLog& log, bool settles) {
  const double nonfinite = s.of("nonfinite"), steps = static_cast<double>(s.done);
  if (s.done > 0 && nonfinite + s.of("skipped") == steps) return "no step was accepted";
  if (nonfinite > 0.5 * steps) return fmt::format("{:.0f} of {} steps were not finite", nonfinite, s.done);
  const auto test_loss = s.values.find("test_loss");
  if (!std::isfinite(s.of("validation_loss")) || (test_loss && !std::isfinite(*test_loss)) ||
      (s.done > 0 && !std::isfinite(s.of("final_loss")))) {
    return "the loss is not finite";
  }
  const double residual = final_training_loss(log.values("train/residual"));
  if (settles && s.done > 0 && !(residual < kUnsettled)) {  // not a number either: the state ran away
    if (!std::isfinite(residual)) return fmt::format("{}: the states of the last steps are not finite", kNotSettled);
    return fmt::format("{}: |F|/|z| after the free phase is {:.2g} in the last steps", kNotSettled, residual);
  }
  return "";
}

/// Advice for a run that failed so.
std::string failure_advice(const Config& config, bool circuit, const std::string& failure) {
  std::string rate = "a smaller train.learning_rate";
  if (!circuit) return rate;
  if (failure.starts_with(kNotSettled)) return "more relaxation.free_steps, a smaller relaxation.step, or " + rate;
  const char* transposed = "aep_transposed";
  const bool fits = config.text("estimator") != transposed && estimator_misfit(config, transposed).empty();
  return beta_advice(config) + (fits ? fmt::format(", {}, or estimator = \"{}\"", rate, transposed) : " or " + rate);
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
  if (const LearningRun* null = loop.named("null")) s.null = null_result(loop.main_run(), *null);
  if (s.of("hardware/devices") > 0) {
    s.token_use = config.text("circuit.tokens");
    s.tokens = coupled_rows(config);
  }
  const double simulated_s = s.of("hardware/phase_time_s") * static_cast<double>(options.batch);
  const double step_s = options.step_time > 0 ? options.step_time : simulated_s;
  s.notes = loop.task().notes();
  for (std::string& note : device_notes(
           config, {step_s * static_cast<double>(loop.done()), simulated_s * static_cast<double>(loop.done())}))
    s.notes.push_back(std::move(note));
  for (const std::string& event : log.events()) {
    if (event.starts_with(noise_text_begins)) s.notes.push_back(event);
  }
  const double snr = s.of("nudge_snr");
  if (snr < 1) s.notes.push_back(drowned_note(snr));
  s.stopped = loop.stopped();
  // The mean of states of a bath is nowhere that a force vanishes.
  const bool settles = plan != nullptr && phase_options(config).phases.free.solver != SettleSolver::sample;
  s.failure = loop.stuck().empty() ? failure_of(s, log, settles) : "stopped: " + loop.stuck();
  if (!s.failure.empty()) s.advice = failure_advice(config, plan != nullptr, s.failure);
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
        fmt::format("{} does not act in this run: the devices saw {} pass, {:.2g} % of {} = {}; train.step_time sets "
                    "how long a step really takes (docs/devices.md gives values)",
                    effect.name, format_quantity(elapsed_s, Unit::second, 3), 100 * elapsed_s / effect.time_s,
                    effect.key, format_quantity(effect.time_s, Unit::second, 3)));
  }
  if (r.disturbs() && time.read_s < least_share * r.read_disturb_time_s) {
    notes.push_back(fmt::format(
        "read disturb does not act in this run: the devices were read for {}, {:.2g} % of device.read_disturb_time = "
        "{}; phases of training are short (nudge.Crossbar.advance_time in Python reads for longer)",
        format_quantity(time.read_s, Unit::second, 3), 100 * time.read_s / r.read_disturb_time_s,
        format_quantity(r.read_disturb_time_s, Unit::second, 3)));
  }
  if (const std::string cut = cut_warning(spec); !cut.empty()) notes.push_back(cut);
  return notes;
}

std::string resolved_null(const Config& config) {
  const std::string asked = train_options(config).null;
  if (asked != "auto") return asked;
  const bool learns = on_devices(config) && config.text("crossbar.update") != "none";
  return learns ? "frozen_devices" : "none";
}

Config frozen_config(const Config& config) {
  Config frozen = config;
  frozen.set_from_text("crossbar.update", "none");
  frozen.set_from_text("train.cosine_every", "never");
  return frozen;
}

NullResult null_result(const LearningRun& run, const LearningRun& null) {
  const LossGain gain = loss_gain(run.validation_losses(), null.validation_losses());
  return {gain, null_verdict(gain, null.log().measured("train/validation_loss").unit)};
}

std::string null_verdict(const LossGain& gain, const std::string& unit) {
  const std::string suffix = unit == "1" ? "" : " " + unit;
  if (!std::isfinite(gain.won)) return "what the devices won against frozen ones is not known";
  const std::string interval =
      std::isfinite(gain.low)
          ? fmt::format(" [{:.4f}, {:.4f}] (95 % over {} validation examples)", gain.low, gain.high, gain.examples)
          : std::string(" (one validation example: no interval)");
  const std::string won = fmt::format("{:.4f}{}{}", gain.won, suffix, interval);
  return gain.significant() ? fmt::format("the devices won {} against frozen ones", won)
                            : fmt::format("the devices learnt nothing beyond frozen ones: won {}", won);
}

void write_null(const LearningRun& run, const LearningRun& null, H5Document& document) {
  const TrainLog& log = null.log();
  const std::vector<double>& losses = log.values("train/validation_loss");
  if (losses.empty()) return;
  const std::string unit = log.measured("train/validation_loss").unit, path = "null/validation_loss";
  document.column(
      path, losses,
      {unit, "validation loss of the run with frozen devices, the values of null/train/validation_loss", {}});
  document.attribute("role", std::string("copy"), path);
  document.attribute("x", std::string("null/train/validation_step"), path);
  const auto [gain, verdict] = null_result(run, null);
  document.attribute("devices_won", gain.won, "null");
  document.attribute("devices_won_low", gain.low, "null");
  document.attribute("devices_won_high", gain.high, "null");
  document.attribute("examples", static_cast<std::int64_t>(gain.examples), "null");
  document.attribute("devices_learnt", static_cast<std::int64_t>(gain.significant()), "null");
  document.attribute("verdict", verdict, "null");
}

void ExampleLosses::add(double summed_loss, Index counted) {
  loss.push_back(summed_loss);
  rows.push_back(static_cast<double>(counted));
}

void ExampleLosses::write(const std::string& prefix, const std::string& unit, H5Document& document) const {
  if (loss.empty()) return;
  document.column(
      prefix + "/example_loss", loss,
      {unit, "cost of each example of the validation part, summed over its rows, as last evaluated", {"example"}});
  document.column(prefix + "/example_rows", rows, {"1", "tokens or samples of it that count", {"example"}});
}

ExampleLosses ExampleLosses::read(const std::string& prefix, const H5Reader& file) {
  ExampleLosses all;
  if (!file.has(prefix + "/example_loss")) return all;
  all.loss = file.reals<double>(prefix + "/example_loss");
  all.rows = file.reals<double>(prefix + "/example_rows", H5Shape{static_cast<Index>(all.loss.size())});
  return all;
}

LossGain loss_gain(const ExampleLosses& one, const ExampleLosses& other) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const std::size_t n = std::min(one.loss.size(), other.loss.size());
  double sum = 0, rows = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += other.loss[i] - one.loss[i];
    rows += one.rows[i];
  }
  LossGain gain{rows > 0 ? sum / rows : nan, -infinity, infinity, static_cast<int>(n)};
  if (n < 2 || !std::isfinite(gain.won)) return gain;
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double off = other.loss[i] - one.loss[i] - gain.won * one.rows[i];
    squares += off * off;
  }
  const double count = static_cast<double>(n);
  const double half = student_t_quantile(0.975, gain.examples - 1) * std::sqrt(count / (count - 1) * squares) / rows;
  gain.low = gain.won - half;
  gain.high = gain.won + half;
  return gain;
}

}  // namespace nudge
