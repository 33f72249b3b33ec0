// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/sweep_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "devices/device_config.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/ranks.hpp"
#include "sim/io/descriptor.hpp"
#include "training/config/run_options.hpp"
#include "training/models/registry.hpp"
#include "training/sweep/farm.hpp"
#include "training/sweep/point_cost.hpp"

namespace nudge {
namespace {

/// Runs the training of a point and sets its results. kept: the file that holds it meanwhile; metrics: names of the
/// results.
void run_training(const Config& config, const KeptRun& kept, PointJob job, const std::function<bool()>& go_on,
                  const std::vector<Measure>& metrics, SweepPoint& point) {
  const FinalTest test = job == PointJob::train_and_test ? FinalTest::evaluate : FinalTest::leave;
  const TrainSummary s = train_kept(
      config, kept, [&](const TrainProgress&) { return go_on(); }, test);
  if (s.stopped) return;      // nothing can be said of it
  point.seconds = s.seconds;  // of all parts
  point.metrics = train_results(s, metrics);
  fill_costs(config, s.readings, metrics, point.metrics);
  point.groups = s.group_cosines;
  point.status = s.failure.empty() ? "ok" : s.failure;
}

/// Costs of a gradient by a short training; a chip that cannot be trained has none, and its gradient is a result all the same.
void add_costs(const Config& config, const std::vector<Measure>& metrics, SweepPoint& point) try {
  point.metrics.resize(metrics.size(), std::numeric_limits<double>::quiet_NaN());
  if (on_devices(config)) measure_costs(config, metrics, point.metrics);
} catch (const UserError&) {
} catch (const NumericalFailure&) {
}

void run_gradcheck(const Config& config, const std::vector<Measure>& metrics, TrainedStarts& starts,
                   SweepPoint& point) {
  const std::string estimator = run_options(config).estimator;
  const GradcheckReport report = gradcheck(config, {{estimator}, false, false, &starts});
  for (const GradcheckRow& row : report.rows) {
    if (row.estimator == estimator && row.group != "all") point.groups.push_back({row.group, row.agreement.cosine});
  }
  point.metrics = gradcheck_results(report, estimator);
  add_costs(config, metrics, point);
  point.status = !report.reference_converged() ? "the exact adjoint did not converge"
                 : !report.finite()            ? "the gradient is not finite"
                 : report.equilibrium.sound()  ? "ok"
                                               : finding(report.equilibrium);
}

void run_stability(const Config& config, SweepPoint& point) {
  const ChipYield found = chip_yield(config, 1);
  point.metrics = stability_results(found);
  point.status = !found.report.at_rest()       ? finding(found.report.at)
                 : std::isfinite(found.margin) ? "ok"
                                               : "no equilibrium whose eigenvalues could be computed";
}

/// Runs one point. Errors in it are its result; only our own bugs end the sweep. kept: the file that holds a training
/// meanwhile; metrics: names of the results; starts: trained networks that gradient checks share.
void run_point(const Config& config, const KeptRun& kept, PointJob job, const std::function<bool()>& go_on,
               const std::vector<Measure>& metrics, TrainedStarts& starts, SweepPoint& point) {
  const Interruptible here;  // nothing of a point is kept but its result, and what a training keeps
  try {
    if (job == PointJob::gradcheck) {
      run_gradcheck(config, metrics, starts, point);
    } else if (job == PointJob::stability) {
      run_stability(config, point);
    } else {
      run_training(config, kept, job, go_on, metrics, point);
    }
  } catch (const UserError& error) {
    point.status = error.what();
  } catch (const NumericalFailure& error) {
    point.status = error.what();
  } catch (const std::bad_alloc&) {
    point.status = "out of memory";
  } catch (const Interrupted&) {
    return;  // to be run again
  }
  if (!point.status.empty() && point.metrics.empty()) {
    point.metrics.assign(metrics.size(), std::numeric_limits<double>::quiet_NaN());
  }
}

/// Path where the training of a point is kept: beside the output, named by its values and seed, so that another grid
/// finds it too.
std::filesystem::path kept_file(const std::filesystem::path& output, const Sweep& sweep, const SweepPoint& point) {
  std::string what = fmt::format("seed={}", point.seed);
  for (std::size_t k = 0; k < sweep.keys.size(); ++k) what += fmt::format("\n{}={}", sweep.keys[k], point.values[k]);
  std::filesystem::path path = output;
  path += fmt::format(".{:016x}.h5", fnv_1a(std::as_bytes(std::span(what))));
  return path;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Rewrites a file that grows with every result. Left alone for twenty times as long as the last rewriting took, it costs at
/// most 1/20 of the time, however many results there are; a kill loses no more work than that.
class PacedStore {
 public:
  explicit PacedStore(const std::function<void()>& store) : store_(store) {}

  /// Takes a result; the file kept of its training is removed when the result is stored.
  void result(const std::filesystem::path& kept) {
    kept_.push_back(kept);
    if (seconds_since(end_) >= 20 * took_) now();
  }
  void now() {
    const auto start = std::chrono::steady_clock::now();
    store_();
    for (const std::filesystem::path& kept : kept_) {
      std::error_code none;  // most have none
      std::filesystem::remove(kept, none);
    }
    kept_.clear();
    took_ = seconds_since(start);
    end_ = std::chrono::steady_clock::now();
  }

 private:
  const std::function<void()>& store_;
  std::vector<std::filesystem::path> kept_;
  double took_ = 0;
  std::chrono::steady_clock::time_point end_ = {};
};

}  // namespace

PointJob sweep_job(const Config& base) {
  if (base.text("sweep.run") == "gradcheck") return PointJob::gradcheck;
  if (base.text("sweep.run") == "stability") return PointJob::stability;
  return base.flag("sweep.test") ? PointJob::train_and_test : PointJob::train;
}

int sweep_threads(const Config& base) {
  const auto parallel = static_cast<int>(base.integer("sweep.parallel"));
  if (parallel > 0) return parallel;
  return rank_count() > 1 ? 1 : thread_count(run_options(base).threads);
}

void run_points(const SweepFiles& files, const SweepGrid& grid, PointJob job, const SweepObserver& observer,
                const std::function<void()>& store, Sweep& sweep) {
  NUDGE_EXPECT(grid.settings.size() == sweep.points.size());
  TaskList tasks(sweep, sweep.shard);
  TrainedStarts starts;  // points that differ in their devices program the same trained network
  PacedStore file(store);
  FarmWork work;
  work.threads = sweep_threads(grid.base);
  if (this_rank() == 0) work.threads = std::max(1, std::min(work.threads, static_cast<int>(tasks.left())));
  work.go_on = [&] { return !observer.stop || !observer.stop(); };
  work.compute = [&](std::size_t at, const std::function<bool()>& go_on) {
    const auto start = std::chrono::steady_clock::now();
    SweepPoint point = sweep.points[at];
    const KeptRun kept{kept_file(files.output, sweep, point), files.point_every_s, files.resume};
    point.seconds = std::numeric_limits<double>::quiet_NaN();
    run_point(grid.config(at), kept, job, go_on, sweep.metrics, starts, point);
    if (std::isnan(point.seconds)) point.seconds = seconds_since(start);
    return point;
  };
  std::size_t done = sweep.count_own() - sweep.count_left();
  work.accept = [&](std::size_t at, const SweepPoint& point) {
    SweepPoint& own = sweep.points[at];  // another rank sends the result alone
    own.status = point.status;
    own.metrics = point.metrics;
    own.groups = point.groups;
    own.seconds = point.seconds;
    file.result(kept_file(files.output, sweep, own));
    if (observer.finished) observer.finished(sweep, own, ++done);
  };
  farm_out(tasks, work);
  if (this_rank() == 0) file.now();
  share_results(sweep);
  sweep.interrupted = sweep.count_left() > 0;
}

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
      {{"margin", "1", "minus the abscissa: by how much every leak can fall before the equilibrium is lost, per tau"},
       [](Y y) { return y.margin; }},
      {{"hopf_frequency", "1", "of the leading pair, radians per tau; 0: real"}, [](Y y) { return y.hopf_frequency; }},
      {{"first_lyapunov", "1",
        "first Lyapunov coefficient of the leading pair, where less leak would lose the equilibrium; below 0: a "
        "small oscillation grows. NaN: real, or more than 512 unknowns"},
       [](Y y) { return y.hopf.found ? y.hopf.lyapunov : std::numeric_limits<double>::quiet_NaN(); }},
      {{"asymmetry", "1", "mean |Jv - J'v|/|Jv|"}, [](Y y) { return y.report.asymmetry; }},
      {{"residual", "1", "largest |F|/|z| at the end of a free phase"}, [](Y y) { return y.chips.front().residual; }},
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
    if (one.column == Column::measure) all.back().description += ", on the validation split at the end";
  }
  return all;
}

}  // namespace

std::vector<Measure> sweep_metrics(const std::string& run, const Config& base) {
  if (run == "stability") return metrics_of(stability_rows());
  if (run != "train") {
    std::vector<Measure> all = metrics_of(check_rows(score_metric(base)));
    if (network_kind(base).is_circuit()) {
      all.insert(all.end(), gradient_cost_measures().begin(), gradient_cost_measures().end());
    }
    return all;
  }
  std::vector<Column> wanted = {Column::run, Column::measure};
  if (!network_kind(base).is_circuit()) return run_columns(base, wanted);
  wanted.push_back(Column::circuit);
  std::vector<Measure> all = run_columns(base, wanted);
  all.insert(all.end(), cost_measures().begin(), cost_measures().end());
  return all;
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
