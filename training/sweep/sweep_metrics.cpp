// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/sweep_points.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

#include "sim/base/errors.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

/// A metric, and what it is of a result.
template <class Result>
struct MetricRow {
  SweepMetric what;
  double (*of)(const Result&);
};

using TrainRow = MetricRow<TrainSummary>;

/// Of a part of the samples.
SweepMetric score_metric_of(const std::string& part, const std::string& score) {
  const std::string description = score == "accuracy" ? "share of the " + part + " samples whose class was found"
                                                      : "root mean square error of a value on the " + part + " samples";
  return {part + "_" + score, "1", description + ", at the end"};
}

/// The cost of samples may be a squared error.
template <class Result>
std::vector<MetricRow<Result>> in_units(std::vector<MetricRow<Result>> rows, const std::string& score) {
  for (MetricRow<Result>& row : rows) {
    if (!score.empty() && row.what.unit == "nat") row.what.unit = "1";
  }
  return rows;
}

/// J by which a run learnt: its pulses, and the reads of devices and columns that went with them.
double learning_energy(const TrainSummary& s) {
  const EnergyReport& of_a_step = s.step_energy.items;
  return (of_a_step.writes_J + of_a_step.verify_J + of_a_step.transfers_J) * static_cast<double>(s.done);
}

/// A heat of pulses; NaN where what a pulse of the device takes is not known.
double known(const TrainSummary& s, double heat_J) {
  return s.step_energy.pulses_known ? heat_J : std::numeric_limits<double>::quiet_NaN();
}

/// Of the equilibrium of a circuit.
std::vector<TrainRow> settling_rows() {
  using S = const TrainSummary&;
  return {{{"cosine", "1",
            "cosine of the gradient with the exact adjoint's, all parameters of the equilibrium, last comparison"},
           [](S s) { return s.cosine; }},
          {{"residual", "1", "mean |F|/|z| after the free phase of the last step"}, [](S s) { return s.residual; }},
          {{"damping", "1", "damping c at the end"}, [](S s) { return s.damping; }}};
}

/// Of the steps of every run.
std::vector<TrainRow> step_rows() {
  using S = const TrainSummary&;
  return {{{"skipped", "1", "outlier steps that were skipped"}, [](S s) { return static_cast<double>(s.skipped); }},
          {{"nonfinite", "1", "steps that were not finite and were rolled back"},
           [](S s) { return static_cast<double>(s.nonfinite); }}};
}

/// Of the devices of a circuit.
std::vector<TrainRow> device_rows() {
  using S = const TrainSummary&;
  return {
      {{"pulses", "1", "pulses of learning sent to all crossbars in the whole run, without those of programming"},
       [](S s) { return s.pulses; }},
      {{"verify_reads", "1", "reads of single devices by which they learnt, without those of programming"},
       [](S s) { return s.verify_reads; }},
      {{"transfer_reads", "1", "reads of columns by update rules with a fast array"},
       [](S s) { return s.transfer_reads; }},
      {{"most_pulses", "1",
        "pulses that one device has had at most, those of programming too: what endurance must bear"},
       [](S s) { return s.most_pulses; }},
      {{"digital_numbers", "1", "numbers that optimizer and update rule keep for each weight"},
       [](S s) { return s.digital_numbers; }},
      {{"learning_energy", "J",
        "heat of the pulses of learning in the whole run, and of the reads of devices and columns that went with them; "
        "NaN where the pulses of the device are not known"},
       [](S s) { return known(s, learning_energy(s)); }},
      {{"write_energy", "J",
        "heat of the pulses of one training step, mean over the steps; NaN where the pulses of the device are not "
        "known"},
       [](S s) { return known(s, s.step_energy.items.writes_J); }},
      {{"array_energy", "J", "heat in the devices during the reads of one training step, median over accepted steps"},
       [](S s) { return s.array_energy; }},
      {{"programming_pulses", "1", "pulses by which the crossbars were first written"},
       [](S s) { return s.programming_pulses; }},
      {{"programming_energy", "J", "heat of these; NaN where the pulses of the device are not known"},
       [](S s) { return known(s, s.programming_energy); }}};
}

std::vector<TrainRow> train_rows(const std::string& score, bool circuit) {
  using S = const TrainSummary&;
  std::vector<TrainRow> rows = {
      {{"final_loss", "nat", "mean training loss per token or sample over the last tenth of the steps"},
       [](S s) { return s.loss; }},
      {{"validation_loss", "nat", "mean cost per token or sample of the validation part at the end"},
       [](S s) { return s.validation_loss; }}};
  const auto add = [&rows](std::vector<TrainRow> more) {
    std::move(more.begin(), more.end(), std::back_inserter(rows));
  };
  if (circuit) add(settling_rows());
  add(step_rows());
  if (circuit) add(device_rows());
  if (!score.empty()) rows.push_back({score_metric_of("validation", score), [](S s) { return s.score.validation; }});
  return in_units(std::move(rows), score);
}

std::vector<TrainRow> test_rows(const std::string& score) {
  using S = const TrainSummary&;
  std::vector<TrainRow> rows = {{{"test_loss", "nat", "mean cost per token or sample of the test part at the end"},
                                 [](S s) { return s.test_loss; }}};
  if (!score.empty()) rows.push_back({score_metric_of("test", score), [](S s) { return s.score.test; }});
  if (score == "accuracy") {
    rows.push_back({{"test_samples", "1", "answers of the test part that the accuracy is a share of"},
                    [](S s) { return static_cast<double>(s.score.test_samples); }});
  }
  return in_units(std::move(rows), score);
}

/// Of one estimator of a check.
struct CheckedEstimator {
  const GradcheckReport* report;
  const GradcheckRow* all;
  const EstimatorFacts* facts;
};
using CheckRow = MetricRow<CheckedEstimator>;

std::vector<CheckRow> check_rows(const std::string& score) {
  using E = const CheckedEstimator&;
  return in_units<CheckedEstimator>(
      {{{"cosine", "1", "cosine of the gradient with the exact adjoint's, all parameters of the equilibrium"},
        [](E e) { return e.all->agreement.cosine; }},
       {{"relative_l2", "1", "|g - exact|/|exact| over the equilibrium's parameters"},
        [](E e) { return e.all->agreement.relative_l2; }},
       {{"sign_agreement", "1", "share of the equilibrium's parameters with the right sign"},
        [](E e) { return e.all->agreement.sign_agreement; }},
       {{"residual", "1", "mean |F|/|z| after the free phase"}, [](E e) { return e.report->residual; }},
       {{"nudged_residual", "1", "mean |f|/|z - z*| after the nudged phases"},
        [](E e) { return e.facts->nudged_residual; }},
       {{"loss", "nat", "mean cost per token or sample after the free phase"}, [](E e) { return e.report->loss; }},
       {{"force_evaluations", "1", "work per sequence; a jvp or vjp counts as one"},
        [](E e) { return e.all->force_evaluations; }}},
      score);
}

std::vector<MetricRow<ChipYield>> stability_rows() {
  using Y = const ChipYield&;
  return {
      {{"abscissa", "1", "largest real part of an eigenvalue of J at the equilibria, per tau"},
       [](Y y) { return y.chips.front().abscissa; }},
      {{"margin", "1", "minus the abscissa: what every leak could lose before the equilibrium does, per tau"},
       [](Y y) { return y.margin; }},
      {{"hopf_frequency", "1", "of the leading pair, radians per tau; 0: real"}, [](Y y) { return y.hopf_frequency; }},
      {{"first_lyapunov", "1",
        "of the leading pair where less leak would lose the equilibrium to it; below 0: a small oscillation grows. "
        "NaN: it does not turn, or has more than 512 unknowns"},
       [](Y y) { return y.hopf.found ? y.hopf.lyapunov : std::numeric_limits<double>::quiet_NaN(); }},
      {{"asymmetry", "1", "mean |Jv - J'v|/|Jv|"}, [](Y y) { return y.report.asymmetry; }},
      {{"residual", "1", "largest |F|/|z| that a free phase ended at"}, [](Y y) { return y.chips.front().residual; }},
      {{"settles", "1", "1: every sequence comes to rest, and perturbations there decay"},
       [](Y y) { return y.chips.front().settles ? 1.0 : 0.0; }}};
}

template <class Result>
std::vector<SweepMetric> metrics_of(const std::vector<MetricRow<Result>>& rows) {
  std::vector<SweepMetric> all;
  for (const MetricRow<Result>& row : rows) all.push_back(row.what);
  return all;
}

template <class Result>
void add_values(const std::vector<MetricRow<Result>>& rows, const Result& result, std::vector<double>& values) {
  for (const MetricRow<Result>& row : rows) values.push_back(row.of(result));
}

}  // namespace

std::vector<SweepMetric> sweep_metrics(const std::string& run, const Config& base) {
  const std::string& score = score_metric(base);
  if (run == "stability") return metrics_of(stability_rows());
  if (run != "train") return metrics_of(check_rows(score));
  std::vector<SweepMetric> all = metrics_of(train_rows(score, network_kind(base).is_circuit()));
  for (const Measure& measure : network_measures(base)) {
    all.push_back({measure.name, measure.unit, measure.description + ", on the validation part at the end"});
  }
  return all;
}

std::vector<SweepMetric> test_metrics(const Config& base) { return metrics_of(test_rows(score_metric(base))); }

std::vector<double> train_results(const TrainSummary& summary, const std::vector<SweepMetric>& metrics) {
  std::map<std::string, double> all;
  for (const auto& rows : {train_rows(summary.metric, true), test_rows(summary.metric)}) {
    for (const TrainRow& row : rows) all[row.what.name] = row.of(summary);
  }
  for (const MeasuredValue& one : summary.measures) all[one.what.name] = one.value;
  std::vector<double> values;
  for (const SweepMetric& metric : metrics) {
    const auto found = all.find(metric.name);
    values.push_back(found == all.end() ? std::numeric_limits<double>::quiet_NaN() : found->second);
  }
  return values;
}

std::vector<double> stability_results(const ChipYield& found) {
  std::vector<double> values;
  add_values(stability_rows(), found, values);
  return values;
}

std::vector<double> gradcheck_results(const GradcheckReport& report, const std::string& estimator) {
  const CheckedEstimator one{&report, report.find(estimator, "all"), &report.estimators.front()};
  NUDGE_EXPECT(one.all != nullptr);
  std::vector<double> values;
  add_values(check_rows(""), one, values);
  return values;
}

}  // namespace nudge
