// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/sweep_points.hpp"

#include <algorithm>
#include <limits>

#include "sim/base/errors.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

/// A metric, and what it is of a result.
template <class Result>
struct MetricRow {
  Measure what;
  double (*of)(const Result&);
};

/// Of one estimator of a check.
struct CheckedEstimator {
  const GradcheckReport* report;
  const GradcheckRow* all;
  const EstimatorFacts* facts;
};
using CheckRow = MetricRow<CheckedEstimator>;

std::vector<CheckRow> check_rows(const std::string& score) {
  using E = const CheckedEstimator&;
  // The cost of samples may be a squared error.
  return {{{"cosine", "1", "cosine of the gradient with the exact adjoint's, all parameters of the equilibrium"},
           [](E e) { return e.all->agreement.cosine; }},
          {{"relative_l2", "1", "|g - exact|/|exact| over the equilibrium's parameters"},
           [](E e) { return e.all->agreement.relative_l2; }},
          {{"sign_agreement", "1", "share of the equilibrium's parameters with the right sign"},
           [](E e) { return e.all->agreement.sign_agreement; }},
          {{"residual", "1", "mean |F|/|z| after the free phase"}, [](E e) { return e.report->residual; }},
          {{"nudged_residual", "1", "mean |f|/|z - z*| after the nudged phases"},
           [](E e) { return e.facts->nudged_residual; }},
          {{"loss", score.empty() ? "nat" : "1", "mean cost per token or sample after the free phase"},
           [](E e) { return e.report->loss; }},
          {{"force_evaluations", "1", "work per sequence; a jvp or vjp counts as one"},
           [](E e) { return e.all->force_evaluations; }}};
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
std::vector<Measure> metrics_of(const std::vector<MetricRow<Result>>& rows) {
  std::vector<Measure> all;
  for (const MetricRow<Result>& row : rows) all.push_back(row.what);
  return all;
}

template <class Result>
void add_values(const std::vector<MetricRow<Result>>& rows, const Result& result, std::vector<double>& values) {
  for (const MetricRow<Result>& row : rows) values.push_back(row.of(result));
}

/// Columns of a run that has not begun.
std::vector<Measure> run_columns(const Config& base, const std::vector<Column>& wanted) {
  std::vector<Measure> all;
  const RunValues values = run_values(base, nullptr);
  for (const RunValue& one : values.all()) {
    if (std::count(wanted.begin(), wanted.end(), one.column) == 0) continue;
    all.push_back(one);
    if (one.column == Column::measure) all.back().description += ", on the validation part at the end";
  }
  return all;
}

}  // namespace

std::vector<Measure> sweep_metrics(const std::string& run, const Config& base) {
  if (run == "stability") return metrics_of(stability_rows());
  if (run != "train") return metrics_of(check_rows(score_metric(base)));
  std::vector<Column> wanted = {Column::run, Column::measure};
  if (network_kind(base).is_circuit()) wanted.push_back(Column::circuit);
  return run_columns(base, wanted);
}

std::vector<Measure> test_metrics(const Config& base) { return run_columns(base, {Column::test}); }

std::vector<double> train_results(const TrainSummary& summary, const std::vector<Measure>& metrics) {
  std::vector<double> values;
  for (const Measure& metric : metrics) {
    values.push_back(summary.values.find(metric.name).value_or(std::numeric_limits<double>::quiet_NaN()));
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
