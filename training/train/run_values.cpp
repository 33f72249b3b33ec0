// SPDX-License-Identifier: Apache-2.0
#include "training/train/run_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sim/base/open_list.hpp"
#include "sim/base/statistics.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/run_options.hpp"
#include "training/config/train_options.hpp"
#include "training/data/task.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/models/registry.hpp"
#include "training/train/plateau.hpp"

namespace nudge {
namespace {

/// Adds the numbers of a run in the order of the columns of a table.
class Collector {
 public:
  Collector(const Config& config, const TrainingLoop* loop)
      : options_(train_options(config)),
        means_(estimator_numbers(run_options(config).estimator, phase_options(config).phases)),
        metric_(score_metric(config)),
        loop_(loop),
        log_(loop != nullptr ? loop->main_run().log() : nothing_),
        done_(loop != nullptr ? loop->done() : 0) {}

  RunValues all(const std::vector<Measure>& measures) {
    add(Column::run, "loss",
        {{"final_loss", loss_unit(), "mean training loss per token or sample over the last tenth of the steps"},
         final_training_loss(log_.values("train/loss"))});
    add_loss("", log_, "validation");
    add_settling();
    add_steps();
    add_slope();
    add_devices(writing());
    add_score("", log_, "validation");
    for (const Measure& one : measures) add(Column::measure, one.name, {one, last(log_, "validation_" + one.name)});
    add_loss("", log_, "test");
    add_score("", log_, "test");
    if (metric_ == "accuracy") {
      add(Column::test, "",
          {{"test_samples", "1", "answers in the test split, the denominator of the accuracy"},
           last(log_, "test_samples")});
    }
    add_hardware(writing());
    if (loop_ != nullptr) {
      for (const std::string& lane : loop_->names()) add_lane(lane);
    }
    return std::move(values_);
  }

 private:
  void add(Column column, const std::string& json, Measured one, bool whole = false) {
    values_.add({std::move(one), json, column, whole});
  }
  /// A number that is no column of a study, with the unit and the text of a column of the log: its place in `--json` is its name.
  void add(const std::string& name, const std::string& column, std::optional<double> value) {
    Measured one = log_.measured(column);
    one.name = name;
    one.value = value;
    add(Column::none, name, std::move(one));
  }

  /// The cost of samples may be a squared error.
  const char* loss_unit() const { return metric_.empty() ? "nat" : "1"; }

  static std::optional<double> last(const TrainLog& log, const std::string& column) {
    return log.measured("train/" + column).value;
  }
  double sum(const char* reading) const { return log_.sum_last("device", reading); }

  static Column column_of(const std::string& lane, const std::string& part) {
    return !lane.empty() ? Column::none : part == "test" ? Column::test : Column::run;
  }
  void add_loss(const std::string& lane, const TrainLog& log, const std::string& part) {
    const std::string name = lane + part + "_loss";
    add(column_of(lane, part), name,
        {{name, loss_unit(), "mean cost per token or sample of the " + part + " split at the end"},
         last(log, part + "_loss")});
  }
  void add_score(const std::string& lane, const TrainLog& log, const std::string& part) {
    if (metric_.empty()) return;
    const std::string name = lane + part + "_" + metric_;
    const std::string what = metric_ == "accuracy" ? "share of the " + part + " samples whose class was found"
                                                   : "root mean square error of a value on the " + part + " samples";
    add(column_of(lane, part), name, {{name, "1", what + ", at the end"}, last(log, part + "_" + metric_)});
  }
  /// Of a lane that the run has: its size, and beside the run itself its losses and scores.
  void add_lane(const std::string& lane) {
    const LearningRun* run = loop_->named(lane);
    const std::string at = lane.empty() ? "" : lane + "/", size = at + "weights";
    const auto weights = static_cast<double>(run->weights());
    if (!lane.starts_with("null/")) add(Column::none, size, {{size, "1", "numbers that are learnt"}, weights}, true);
    for (const char* part : {"validation", "test"}) {
      if (lane.empty()) continue;
      add_loss(at, run->log(), part);
      add_score(at, run->log(), part);
    }
  }

  void add_slope() {
    const bool ended = loop_ != nullptr && loop_->finished() && done_ > 0;
    const std::optional<Plateau> found = ended ? std::optional(plateau_of(log_)) : std::nullopt;
    add(Column::run, "plateau/slope_per_1000_steps",
        {{"loss_slope", std::string(loss_unit()) + "/1000",
          "change per 1000 steps over the last fifth of the steps, of the validation loss, or of the training loss "
          "where that has too few values"},
         found ? std::optional(found->slope_per_1000_steps) : std::nullopt});
    add(Column::run, "",
        {{"plateau", "1", "1: that loss has stopped falling, 0: it still falls, NaN: its scatter hides it"},
         found && found->reached ? std::optional(*found->reached ? 1.0 : 0.0) : std::nullopt});
  }

  void add_settling() {
    add(Column::circuit, "",
        {{"cosine", "1",
          "cosine of the gradient with the exact adjoint's, all parameters of the equilibrium, last comparison"},
         last(log_, "cosine_all")});
    add(Column::circuit, "residual",
        {{"residual", "1", "mean |F|/|z| after the free phase of the last step"}, last(log_, "residual")});
    for (const char* share : {"settled", "lost", "unstable", "dead"}) {
      const std::string at = std::string("equilibrium_") + share;
      add(std::string("equilibrium/") + share, "train/" + at, last(log_, at));
    }
    add(Column::circuit, "damping", {{"damping", "1", "damping c at the end"}, last(log_, "damping")});
    for (const char* one : {"nudge_snr", "noise_cosine", "expected_cosine"})
      add(one, std::string("train/") + one, last(log_, one));
  }

  /// Steps of a kind, of all that were done, in the log or not; of what the log says, which a file may have been edited to.
  double count(const std::string& kind) const {
    const auto& all = log_.values("train/" + kind);  // of a file of an older version: every step's
    const auto counted = static_cast<double>(std::count(all.begin(), all.end(), 1.0));
    const double n = last(log_, kind + "_so_far").value_or(counted);
    return n > 0 ? std::floor(std::min(n, static_cast<double>(done_))) : 0;
  }
  void add_steps() {
    add(Column::run, "skipped", {{"skipped", "1", "outlier steps that were skipped"}, count("skipped")}, true);
    add(Column::run, "nonfinite",
        {{"nonfinite", "1", "steps that were not finite and were rolled back"}, count("nonfinite")}, true);
  }

  /// Median of a column over the steps that were neither skipped nor rolled back; 0 for an empty column. Not the mean: a
  /// state that runs away draws any power in the model, where the amplifiers of a circuit saturate.
  double median(const std::string& column) const {
    const auto& values = log_.values("train/" + column);
    const auto& skipped = log_.values("train/skipped");
    const auto& nonfinite = log_.values("train/nonfinite");
    std::vector<double> kept;
    const std::size_t n = std::min({values.size(), skipped.size(), nonfinite.size()});
    for (std::size_t i = 0; i < n; ++i) {
      if (skipped[i] == 0 && nonfinite[i] == 0 && std::isfinite(values[i])) kept.push_back(values[i]);
    }
    return kept.empty() ? 0 : upper_median(std::move(kept));
  }

  /// Sums over the arrays: of the programming, and of what came after it; heat of a step, mean over the steps.
  struct Writing {
    double devices = 0;
    double first = 0, first_reads = 0, first_heat = 0;
    double pulses = 0, reads = 0, heat = 0;
    double writes = 0, verify = 0, transfers = 0;
    std::optional<double> if_known(double heat_J) const {
      const bool known = devices == 0 || pulses + first == 0 || heat + first_heat > 0;
      return known ? std::optional(heat_J) : std::nullopt;
    }
  };
  Writing writing() const {
    Writing all;
    all.devices = sum("devices");
    all.first = sum("programming_pulses");
    all.first_reads = sum("programming_reads");
    all.first_heat = sum("programming_energy");
    all.pulses = sum("pulses_up") + sum("pulses_down") - all.first;
    all.reads = sum("verify_reads") - all.first_reads;
    all.heat = sum("write_energy") - all.first_heat;
    if (all.devices == 0) return all;
    const double steps = std::max<double>(1, static_cast<double>(done_));
    // Not the growth since the start: heat is counted at the mean conductance of now, that of programming too.
    all.writes = all.heat / steps;
    all.verify = (sum("verify_energy") - sum("programming_reads_energy")) / steps;
    all.transfers = log_.sum_growth("device", "transfer_energy") / steps;
    return all;
  }

  void add_devices(const Writing& w) {
    const auto row = [&](const char* json, const char* name, const char* unit, const char* text,
                         std::optional<double> value) {
      add(Column::circuit, json, {{name, unit, text}, value});
    };
    row("hardware/pulses", "pulses", "1",
        "pulses of learning sent to all crossbars in the whole run, without those of programming", w.pulses);
    row("hardware/verify_reads", "verify_reads", "1",
        "reads of single devices by which they learnt, without those of programming", w.reads);
    row("hardware/transfer_reads", "transfer_reads", "1", "reads of columns by update rules with a fast array",
        sum("transfer_reads"));
    row("", "most_pulses", "1", "most pulses of one device, with those of programming: the endurance it needs",
        log_.largest_last("device", "device_pulses_max"));
    row("", "digital_numbers", "1", "numbers that optimizer, estimator and update rule keep for each weight",
        means_ + optimizer_kind(options_.optimizer).numbers(options_.rule) +
            log_.largest_last("device", "digital_numbers"));
    row("", "learning_energy", "J",
        "heat of the pulses of learning in the whole run, with the reads of devices and columns for them; NaN where "
        "the pulses of the device are not known",
        w.if_known((w.writes + w.verify + w.transfers) * static_cast<double>(done_)));
    row("", "write_energy", "J",
        "heat of the pulses of one training step, mean over the steps; NaN where the pulses of the device are not "
        "known",
        w.if_known(w.writes));
    row("hardware/array_energy_J", "array_energy", "J",
        "heat in the devices during the reads of one training step, median over accepted steps",
        median("array_energy"));
    row("hardware/programming/pulses", "programming_pulses", "1", "pulses by which the crossbars were first written",
        w.first);
    row("", "programming_energy", "J", "heat of these; NaN where the pulses of the device are not known",
        w.if_known(w.first_heat));
  }

  void add_hardware(const Writing& w) {
    const auto fact = [&](const std::string& name, const char* unit, const char* text, double value) {
      add(Column::none, name, {{name, unit, text}, value});
    };
    const std::string step = "hardware/energy_per_step_J/";
    fact("hardware/programming/verify_reads", "1", "reads of single devices of that programming", w.first_reads);
    fact("hardware/programming/energy_J", "J", "heat of its pulses, 0 where not known", w.first_heat);
    fact("hardware/write_energy_J", "J", "heat of all pulses of learning, 0 where not known", w.heat);
    fact("hardware/write_failures", "1", "failures of write-verify, programming too", sum("write_failures"));
    fact("hardware/devices", "1", "devices of all arrays, replicas included", w.devices);
    fact(step + "writes", "J", "heat of the pulses of learning, mean over the steps, 0 where not known", w.writes);
    fact(step + "verify_reads", "J", "reads of single devices by which they learnt, mean over the steps", w.verify);
    fact(step + "transfers", "J", "reads of transfers between arrays, mean over the steps", w.transfers);
    add(Column::none, "", {{"ir_drop", "1", "of the worst tile at the end"}, log_.largest_last("device", "ir_drop")});
    add("hardware/phase_time_s", "train/phase_time", median("phase_time"));
    for (const auto& [name, column] : of_reads) {
      add(step + name, std::string("train/") + column, w.devices > 0 ? median(column) : 0);
    }
  }

  /// Items of the energy of a step and what they are counted by, medians over accepted steps: place in `--json`, column of the log.
  static constexpr std::pair<const char*, const char*> of_reads[] = {
      {"arrays", "array_energy"},
      {"converters", "conversion_energy"},
      {"amplifiers", "amplifier_energy"},
      {"drivers", "driver_energy"},
      {"digital", "digital_energy"},
      {"counts/conversions", "conversions"},
      {"counts/lines", "lines"},
      {"counts/amplifier_seconds", "amplifier_time"},
      {"counts/driven_cells_V2", "driven_cells"},
      {"counts/digital_operations", "digital_operations"}};

  TrainLog nothing_;  ///< of a run that has not begun
  TrainOptions options_;
  double means_;
  std::string metric_;
  const TrainingLoop* loop_;
  const TrainLog& log_;
  std::uint64_t done_;
  RunValues values_;
};

}  // namespace

std::optional<double> RunValues::find(std::string_view name) const {
  const auto at = std::find_if(all_.begin(), all_.end(), [&](const RunValue& one) { return one.name == name; });
  return at == all_.end() ? std::nullopt : at->value;
}

double RunValues::of(std::string_view name) const {
  return named(all_, name).value.value_or(std::numeric_limits<double>::quiet_NaN());
}

RunValues run_values(const Config& config, const TrainingLoop* loop) {
  return Collector(config, loop).all(network_measures(config));
}

double final_training_loss(const std::vector<double>& losses) {
  const std::size_t take = std::min(losses.size(), std::max<std::size_t>(1, losses.size() / 10));
  double sum = 0;
  int finite = 0;
  for (std::size_t i = losses.size() - take; i < losses.size(); ++i) {
    if (!std::isfinite(losses[i])) continue;
    sum += losses[i];
    ++finite;
  }
  return finite > 0 ? sum / finite : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace nudge
