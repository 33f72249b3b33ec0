// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/sweep_points.hpp"

#include <cmath>
#include <limits>
#include <mutex>

#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "training/check/gradcheck.hpp"

namespace nudge {
namespace {

void run_training(const Config& config, PointJob job, const std::function<bool()>& go_on, SweepPoint& point) {
  const bool tests = job == PointJob::train_and_test;
  bool stopped = false;
  const TrainSummary s = train(
      config, std::nullopt,
      [&](const TrainProgress&) {
        stopped = !go_on();
        return !stopped;
      },
      tests ? FinalTest::evaluate : FinalTest::leave);
  if (stopped && s.failure.empty() && s.done < static_cast<std::uint64_t>(config.integer("train.steps"))) return;
  point.metrics = {s.loss,
                   s.validation_loss,
                   s.cosine,
                   s.residual,
                   s.damping,
                   static_cast<double>(s.skipped),
                   static_cast<double>(s.nonfinite),
                   s.pulses,
                   s.write_energy,
                   s.array_energy};
  const bool scored = !s.metric.empty();
  if (scored) point.metrics.push_back(s.score.validation);
  if (tests) point.metrics.push_back(s.test_loss);
  if (tests && scored) point.metrics.push_back(s.score.test);
  point.groups = s.group_cosines;
  point.status = s.failure.empty() ? "ok" : s.failure;
}

void run_gradcheck(const Config& config, TrainedStarts& starts, SweepPoint& point) {
  const std::string& estimator = config.text("estimator");
  const GradcheckReport report = gradcheck(config, {{estimator}, false, false, &starts});
  for (const GradcheckRow& row : report.rows) {
    if (row.estimator == estimator && row.group != "all") point.groups.push_back({row.group, row.agreement.cosine});
  }
  const GradcheckRow& all = *report.find(estimator, "all");
  point.metrics = {all.agreement.cosine,
                   all.agreement.relative_l2,
                   all.agreement.sign_agreement,
                   report.residual,
                   report.estimators.front().nudged_residual,
                   report.loss,
                   all.force_evaluations};
  point.status = !report.reference_converged() ? "the exact adjoint did not converge"
                 : !report.finite()            ? "the gradient is not finite"
                 : report.residual >= 1        ? "no equilibrium: |F|/|z| after the free phase is 1 or more"
                                               : "ok";
}

/// What goes wrong in a point is its result; only our own bugs end the sweep.
void run_point(const Config& config, PointJob job, const std::function<bool()>& go_on, std::size_t metrics,
               TrainedStarts& starts, SweepPoint& point) {
  try {
    if (job == PointJob::gradcheck) {
      run_gradcheck(config, starts, point);
    } else {
      run_training(config, job, go_on, point);
    }
  } catch (const UserError& error) {
    point.status = error.what();
  } catch (const NumericalFailure& error) {
    point.status = error.what();
  } catch (const std::bad_alloc&) {
    point.status = "out of memory";
  }
  if (!point.status.empty() && point.metrics.empty()) {
    point.metrics.assign(metrics, std::numeric_limits<double>::quiet_NaN());
  }
}

}  // namespace

int sweep_threads(const Config& base) {
  const auto parallel = static_cast<int>(base.integer("sweep.parallel"));
  return parallel > 0 ? parallel : static_cast<int>(base.integer("threads"));
}

void run_points(const std::vector<Config>& configs, int threads, PointJob job, const SweepObserver& observer,
                const std::function<void()>& store, Sweep& sweep) {
  NUDGE_EXPECT(configs.size() == sweep.points.size());
  std::vector<std::size_t> todo;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    if (sweep.points[i].status.empty()) todo.push_back(i);
  }
  std::mutex mutex;
  TrainedStarts starts;  // points that differ in their devices program the same trained network
  std::size_t done = sweep.points.size() - todo.size();
  const auto go_on = [&] { return !observer.stop || !observer.stop(); };
  parallel_for(static_cast<Index>(todo.size()), threads, [&](Index i, int /*thread*/) {
    if (!go_on()) return;
    const std::size_t at = todo[static_cast<std::size_t>(i)];
    SweepPoint point = sweep.points[at];
    run_point(configs[at], job, go_on, sweep.metrics.size(), starts, point);
    if (point.status.empty()) return;  // stopped on the way
    const std::lock_guard<std::mutex> lock(mutex);
    sweep.points[at] = point;
    store();
    if (observer.finished) observer.finished(sweep, point, ++done);
  });
  sweep.interrupted = !go_on();
}

}  // namespace nudge
