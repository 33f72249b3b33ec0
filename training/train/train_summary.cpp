// SPDX-License-Identifier: Apache-2.0
#include "training/train/train_summary.hpp"

#include <fmt/format.h>

#include "circuits/linear_map_factory.hpp"
#include "devices/device_config.hpp"
#include "devices/spreads.hpp"
#include "sim/base/units.hpp"
#include "training/check/choices.hpp"
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
  const TrainLog& log = loop.learner().log();
  s.done = loop.done();
  s.values = run_values(config, &loop);
  s.metric = score_metric(config);
  s.group_cosines = last_cosines(plan, log.values("train/cosine"));
  const TrainOptions options = train_options(config);
  if (loop.lane("beside") != nullptr) s.beside = options.beside;
  if (const Learner* null = loop.lane("null")) s.null = null_result(loop.learner(), *null);
  if (s.of("hardware/devices") > 0) {
    s.token_use = config.text("circuit.tokens");
    s.tokens = coupled_rows(config);
  }
  const double simulated_s = s.of("hardware/phase_time_s") * static_cast<double>(options.batch);
  const double step_s = options.step_time > 0 ? options.step_time : simulated_s;
  s.notes = loop.task().notes();
  for (std::string& note : device_notes(config, step_s * static_cast<double>(loop.done())))
    s.notes.push_back(std::move(note));
  const double snr = s.of("nudge_snr");
  if (snr < 1) s.notes.push_back(drowned_note(snr, s.of("expected_cosine")));
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

std::vector<std::string> device_notes(const Config& config, double elapsed_s) {
  const DeviceSpec spec = device_spec(config);
  std::vector<std::string> notes;
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
    notes.push_back(fmt::format(
        "{} does not act in this run: the devices saw {} pass, {:.2g} % of {} = {}; train.step_time sets how "
        "long a step really takes (docs/devices.md gives values)",
        effect.name, format_quantity(elapsed_s, Unit::second, 3), 100 * elapsed_s / effect.time_s, effect.key,
        format_quantity(effect.time_s, Unit::second, 3)));
  }
  if (const std::string cut = cut_warning(spec); !cut.empty()) notes.push_back(cut);
  return notes;
}

}  // namespace nudge
