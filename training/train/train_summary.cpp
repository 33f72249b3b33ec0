// SPDX-License-Identifier: Apache-2.0
#include "training/train/train_summary.hpp"

#include <fmt/format.h>

#include "circuits/linear_map_factory.hpp"
#include "devices/device_config.hpp"
#include "devices/spreads.hpp"
#include "sim/base/statistics.hpp"
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

/// Counts the steps of a kind among all steps done, in the log or not. The log may come from a file that was edited.
std::uint64_t count(const TrainingLoop& loop, const std::string& kind) {
  const TrainLog& log = loop.learner().log();
  const std::vector<double>& so_far = log.values("train/" + kind + "_so_far");
  const std::vector<double>& all = log.values("train/" + kind);  // of a file of an older version: every step's
  const double n = so_far.empty() ? static_cast<double>(std::count(all.begin(), all.end(), 1.0)) : so_far.back();
  return n > 0 ? static_cast<std::uint64_t>(std::min(n, static_cast<double>(loop.done()))) : 0;
}

/// Median of a column over the steps that were neither skipped nor rolled back; 0 for an empty column. Not the mean: a
/// state that runs away draws any power in the model, where the amplifiers of a circuit saturate.
double median_of_accepted(const TrainLog& log, const char* column) {
  const auto& values = log.values(column);
  const auto& skipped = log.values("train/skipped");
  const auto& nonfinite = log.values("train/nonfinite");
  std::vector<double> kept;
  const std::size_t n = std::min({values.size(), skipped.size(), nonfinite.size()});
  for (std::size_t i = 0; i < n; ++i) {
    if (skipped[i] == 0 && nonfinite[i] == 0 && std::isfinite(values[i])) kept.push_back(values[i]);
  }
  return kept.empty() ? 0 : upper_median(std::move(kept));
}

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

/// Adds the cost of the simulated circuit.
void add_circuit(const Config& config, const TrainLog& log, TrainSummary& s) {
  s.devices = log.sum_last("device", "devices");
  if (s.devices == 0) return;
  s.token_use = config.text("circuit.tokens");
  s.tokens = coupled_rows(config);
  StepEnergy& e = s.step_energy;
  e.items.arrays_J = s.array_energy;
  e.conversions = median_of_accepted(log, "train/conversions");
  e.items.dac_J = median_of_accepted(log, "train/conversion_energy");  // of both kinds
  e.items.amplifiers_J = median_of_accepted(log, "train/amplifier_energy");
  e.items.drivers_J = median_of_accepted(log, "train/driver_energy");
  e.items.digital_J = median_of_accepted(log, "train/digital_energy");
  e.lines = median_of_accepted(log, "train/lines");
  e.amplifier_s = median_of_accepted(log, "train/amplifier_time");
  e.cell_V2 = median_of_accepted(log, "train/driven_cells");
  e.operations = median_of_accepted(log, "train/digital_operations");
  const double steps = std::max<double>(1, static_cast<double>(s.done));
  // Not the growth since the start: heat is counted at the mean conductance of now, that of programming too.
  e.items.writes_J = s.write_energy / steps;
  e.items.verify_J =
      (log.sum_last("device", "verify_energy") - log.sum_last("device", "programming_reads_energy")) / steps;
  e.items.transfers_J = log.sum_growth("device", "transfer_energy") / steps;
  e.pulses_known = s.pulses + s.programming_pulses == 0 || s.write_energy + s.programming_energy > 0;
}

constexpr const char* kNotSettled = "it does not settle";

/// Text of a run's failure, by which it is no result; empty: it is one.
std::string failure_of(const TrainSummary& s, const TrainLog& log, bool settles) {
  const auto nonfinite = static_cast<double>(s.nonfinite);
  const auto steps = static_cast<double>(s.done);
  if (s.done > 0 && s.nonfinite + s.skipped == s.done) return "no step was accepted";
  if (nonfinite > 0.5 * steps) return fmt::format("{} of {} steps were not finite", s.nonfinite, s.done);
  const bool tested = !log.values("train/test_loss").empty();
  if (!std::isfinite(s.validation_loss) || (tested && !std::isfinite(s.test_loss)) ||
      (s.done > 0 && !std::isfinite(s.loss))) {
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
  const std::string& metric = score_metric(config);
  s.done = loop.done();
  s.loss = final_training_loss(log.values("train/loss"));
  s.validation_loss = log.last("train/validation_loss");
  s.test_loss = log.last("train/test_loss");
  s.residual = log.last("train/residual");
  s.damping = log.last("train/damping");
  s.skipped = count(loop, "skipped");
  s.nonfinite = count(loop, "nonfinite");
  s.array_energy = median_of_accepted(log, "train/array_energy");
  s.phase_time = median_of_accepted(log, "train/phase_time");
  s.programming_pulses = log.sum_last("device", "programming_pulses");
  s.programming_reads = log.sum_last("device", "programming_reads");
  s.programming_energy = log.sum_last("device", "programming_energy");
  s.pulses = log.sum_last("device", "pulses_up") + log.sum_last("device", "pulses_down") - s.programming_pulses;
  s.verify_reads = log.sum_last("device", "verify_reads") - s.programming_reads;
  s.transfer_reads = log.sum_last("device", "transfer_reads");
  s.most_pulses = log.largest_last("device", "device_pulses_max");
  s.ir_drop = log.largest_last("device", "ir_drop");
  s.write_failures = log.sum_last("device", "write_failures");
  s.write_energy = log.sum_last("device", "write_energy") - s.programming_energy;
  const TrainOptions options = train_options(config);
  s.digital_numbers =
      optimizer_numbers(options.optimizer, options.rule) + log.largest_last("device", "digital_numbers");
  const double fixed = options.step_time;
  const double step_s = fixed > 0 ? fixed : s.phase_time * static_cast<double>(options.batch);
  s.notes = loop.task().notes();
  for (std::string& note : device_notes(config, step_s * static_cast<double>(loop.done())))
    s.notes.push_back(std::move(note));
  s.cosine = log.last("train/cosine_all");
  s.group_cosines = last_cosines(plan, log.values("train/cosine"));
  add_circuit(config, log, s);
  s.weights = loop.learner().weights();
  s.metric = metric;
  s.score = held_out_score(loop.learner(), metric);
  for (Measure& one : network_measures(config)) {
    const double value = log.last("train/validation_" + one.name);
    s.measures.push_back({std::move(one), value});
  }
  if (const Learner* beside = loop.lane("beside")) {
    s.beside = options.beside;
    s.beside_validation_loss = beside->log().last("train/validation_loss");
    s.beside_test_loss = beside->log().last("train/test_loss");
    s.beside_score = held_out_score(*beside, metric);
    s.beside_weights = beside->weights();
  }
  if (const Learner* null = loop.lane("null")) s.null = null_result(loop.learner(), *null, metric);
  s.nudge_snr = log.last("train/nudge_snr");
  s.expected_cosine = log.last("train/expected_cosine");
  if (s.nudge_snr < 1) s.notes.push_back(drowned_note(s.nudge_snr, s.expected_cosine));
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
