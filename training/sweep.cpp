// SPDX-License-Identifier: Apache-2.0
#include "training/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "sim/io/atomic_file.hpp"
#include "training/config_table.hpp"
#include "training/gradcheck.hpp"
#include "training/setup.hpp"
#include "training/spread.hpp"
#include "training/sweep_file.hpp"
#include "training/sweep_grid.hpp"
#include "training/train_run.hpp"

namespace nudge {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void run_training(const Config& config, const std::function<bool()>& go_on, SweepPoint& point) {
  bool stopped = false;
  const TrainSummary s = train(config, std::nullopt, [&](const TrainProgress&) {
    stopped = !go_on();
    return !stopped;
  });
  if (stopped) return;
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
  point.status = s.failed ? "stopped: the gradient was not finite many steps in a row"
                 : std::isfinite(s.loss) && std::isfinite(s.validation_loss) ? "ok"
                                                                             : "the loss is not finite";
}

void run_gradcheck(const Config& config, SweepPoint& point) {
  const std::string& estimator = config.text("estimator");
  const GradcheckReport report = gradcheck(config, {{estimator}, false, false});
  double cosine = 0;
  double groups = 0;
  for (const GradcheckRow& row : report.rows) {
    if (row.group == "all") continue;
    cosine += row.agreement.cosine;
    groups += 1;
  }
  const GradcheckRow& all = *report.find(estimator, "all");
  point.metrics = {cosine / groups,
                   all.agreement.relative_l2,
                   all.agreement.sign_agreement,
                   report.residual,
                   report.estimators.front().nudged_residual,
                   report.loss,
                   all.force_evaluations};
  point.status = !report.reference_converged() ? "the exact adjoint did not converge"
                 : report.finite()             ? "ok"
                                               : "the gradient is not finite";
}

/// What goes wrong in a point is its result; only our own bugs end the sweep.
void run_point(const Config& config, const std::function<bool()>& go_on, SweepPoint& point) {
  try {
    if (config.text("sweep.run") == "train") {
      run_training(config, go_on, point);
    } else {
      run_gradcheck(config, point);
    }
  } catch (const UserError& error) {
    point.status = error.what();
  } catch (const NumericalFailure& error) {
    point.status = error.what();
  } catch (const std::bad_alloc&) {
    point.status = "out of memory";
  }
  if (!point.status.empty() && point.metrics.empty()) {
    point.metrics.assign(sweep_metrics(config.text("sweep.run")).size(), kNan);
  }
}

}  // namespace

std::size_t Sweep::count_ok() const {
  return static_cast<std::size_t>(
      std::count_if(points.begin(), points.end(), [](const SweepPoint& p) { return p.status == "ok"; }));
}

const std::vector<SweepMetric>& sweep_metrics(const std::string& run) {
  static const std::vector<SweepMetric> training = {
      {"final_loss", "nat", "mean training loss per token over the last tenth of the steps"},
      {"validation_loss", "nat", "mean cross-entropy per token on the validation windows at the end"},
      {"cosine", "1", "cosine of the gradient with the exact adjoint's, mean over parameter groups, last comparison"},
      {"residual", "1", "mean |F|/|z| after the free phase of the last step"},
      {"damping", "1", "damping c at the end"},
      {"skipped", "1", "outlier steps that were skipped"},
      {"nonfinite", "1", "steps that were not finite and were rolled back"},
      {"pulses", "1", "pulses sent to all crossbars"},
      {"write_energy", "J", "heat of these pulses; 0 where the pulses of the device are not known"},
      {"array_energy", "J", "heat in the devices during the reads of one training step, median over accepted steps"}};
  static const std::vector<SweepMetric> checking = {
      {"cosine", "1", "cosine of the gradient with the exact adjoint's, mean over parameter groups"},
      {"relative_l2", "1", "|g - exact|/|exact| over the equilibrium's parameters"},
      {"sign_agreement", "1", "share of the equilibrium's parameters with the right sign"},
      {"residual", "1", "mean |F|/|z| after the free phase"},
      {"nudged_residual", "1", "mean |f|/|z - z*| after the nudged phases"},
      {"loss", "nat", "mean cross-entropy per token after the free phase"},
      {"force_evaluations", "1", "work per sequence; a jvp or vjp counts as one"}};
  return run == "train" ? training : checking;
}

Sweep run_sweep(const ConfigSource& source, const SweepFiles& files, const SweepObserver& observer) {
  check_output_path(files.output, files.resume ? Overwrite::replace : Overwrite::must_not_exist);
  SweepGrid grid = make_sweep_grid(source);
  use_product_kernel(grid.base);
  SweepFile file(files, grid.base);
  if (files.resume) file.restore(grid);
  Sweep& sweep = grid.sweep;
  std::vector<std::size_t> todo;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    if (sweep.points[i].status.empty()) todo.push_back(i);
  }
  std::mutex mutex;
  std::size_t done = sweep.points.size() - todo.size();
  const auto go_on = [&] { return !observer.stop || !observer.stop(); };
  const int parallel = static_cast<int>(grid.base.integer("sweep.parallel"));
  const int threads = parallel > 0 ? parallel : static_cast<int>(grid.base.integer("threads"));
  parallel_for(static_cast<Index>(todo.size()), threads, [&](Index i, int /*thread*/) {
    if (!go_on()) return;
    const std::size_t at = todo[static_cast<std::size_t>(i)];
    SweepPoint point = sweep.points[at];
    run_point(grid.configs[at], go_on, point);
    if (point.status.empty()) return;  // stopped on the way
    const std::lock_guard<std::mutex> lock(mutex);
    sweep.points[at] = point;
    file.write(sweep);
    if (observer.finished) observer.finished(sweep, point, ++done);
  });
  sweep.interrupted = !go_on();
  file.write(sweep);
  return sweep;
}

std::vector<SweepCell> summarise_sweep(const Sweep& sweep) {
  std::vector<SweepCell> cells;
  const std::size_t n = sweep.metrics.size();
  std::vector<std::vector<const SweepPoint*>> members;
  for (const SweepPoint& point : sweep.points) {
    const auto same = [&](const SweepCell& cell) { return cell.values == point.values; };
    const auto at = std::find_if(cells.begin(), cells.end(), same);
    const auto place = static_cast<std::size_t>(at - cells.begin());
    if (at == cells.end()) {
      cells.push_back({point.values, 0, 0, std::vector<double>(n, kNan), std::vector<double>(n, kNan)});
      members.emplace_back();
    }
    if (point.status.empty()) continue;
    ++(point.status == "ok" ? cells[place].runs : cells[place].failed);
    if (point.status == "ok") members[place].push_back(&point);
  }
  for (std::size_t c = 0; c < cells.size(); ++c) {
    for (std::size_t m = 0; m < n; ++m) {
      std::vector<double> values;
      for (const SweepPoint* p : members[c]) values.push_back(p->metrics[m]);
      const Spread spread = spread_of_finite(values);
      cells[c].mean[m] = spread.mean;
      cells[c].deviation[m] = spread.deviation;
    }
  }
  return cells;
}

}  // namespace nudge
