// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/estimate.hpp"

#include <fcntl.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <queue>
#include <span>
#include <string_view>

#include "sim/base/errors.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/io/descriptor.hpp"
#include "training/check/stability.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/config/run_options.hpp"
#include "training/config/train_options.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/sweep/sweep_file.hpp"

namespace nudge {

std::string axis_text(const std::string& key, const std::string& value) {
  return find_row(program_table(), key) == nullptr ? value : key + " = " + value;
}

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Returns "VmHWM" (peak) or "VmRSS" (now) of this process in bytes, as Linux tells it.
double memory_of(const std::string& what) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(what + ":", 0) == 0) return 1024 * std::stod(line.substr(what.size() + 1));
  }
  return kNan;
}

/// Resets the peak to the present use, without memory that was freed and kept. False where the system does not allow
/// it.
bool forget_peak() {
  ::malloc_trim(0);
  constexpr std::string_view peak = "5";
  return write_at(open_plain_file("/proc/self/clear_refs", O_WRONLY), std::as_bytes(std::span(peak)), 0);
}

/// Name of a point's kind, on which its time depends: its values, of real numbers only whether they are 0. In a sweep
/// of one key at a time it is the key that left its baseline.
std::string kind_of(const Sweep& sweep, const SweepPoint& point) {
  const bool alone = sweep.mode == "one_at_a_time";
  const std::vector<std::string>& baseline = sweep.points.front().values;
  std::string name;
  for (std::size_t k = 0; k < sweep.keys.size(); ++k) {
    if (alone && point.values[k] == baseline[k]) continue;
    const ParamRow* row = find_row(program_table(), sweep.keys[k]);
    const bool real = row != nullptr && row->kind == ParamKind::real && point.numbers[k] != 0;
    name += (name.empty() ? "" : ", ") + (real ? sweep.keys[k] + " not 0" : axis_text(sweep.keys[k], point.values[k]));
  }
  return alone && name.empty() ? "baseline" : name;
}

/// Times of the parts of a training.
struct TrainingTimes {
  double whole = 0, set_up = 0, step = 0, comparison = 0, evaluation = 0;
};

/// Trains `steps` (even, at least 4) steps with a comparison in the first and in the middle one and an evaluation at
/// both ends. The times at which the steps end tell the parts apart.
TrainingTimes time_training(Config config, std::int64_t steps, PointJob job, std::vector<GroupCosine>& groups) {
  const bool compares = train_options(config).cosine_every > 0;
  config.set_from_text("train.steps", std::to_string(steps));
  config.set_from_text("train.evaluate_every", "0");
  if (compares) config.set_from_text("train.cosine_every", std::to_string(steps / 2));
  std::vector<double> ends;
  const double start = now();
  const TrainSummary summary = train(
      config, std::nullopt,
      [&ends](const TrainProgress& p) {
        if (p.warning.empty() && p.doing.empty()) ends.push_back(now());
        return true;
      },
      job == PointJob::train_and_test ? FinalTest::evaluate : FinalTest::leave);
  groups = summary.group_cosines;
  const auto took = [&ends](std::size_t step) { return ends[step] - ends[step - 1]; };
  TrainingTimes times;
  times.whole = now() - start;
  if (ends.size() < static_cast<std::size_t>(steps)) return times;  // it ended early
  const auto middle = static_cast<std::size_t>(steps / 2), last = static_cast<std::size_t>(steps - 1);
  double plain = 0;
  for (std::size_t s = 1; s < last; ++s) plain += s == middle ? 0 : took(s);
  times.step = plain / static_cast<double>(steps - 3);
  times.comparison = compares ? std::max(0.0, took(middle) - times.step) : 0;
  times.evaluation = std::max(0.0, took(last) - times.step);
  times.set_up = std::max(0.0, ends[0] - start - times.step - times.comparison - times.evaluation);
  return times;
}

double seconds_of_training(const Config& config, PointJob job, std::vector<GroupCosine>& groups) {
  const TrainOptions options = train_options(config);
  const auto steps = static_cast<std::int64_t>(options.rate.steps);
  const auto ceil_of = [steps](std::int64_t every) {
    const std::int64_t times = every > 0 ? (steps + every - 1) / every : 0;
    return static_cast<double>(times);
  };
  constexpr double kShort = 0.25;  // s; below, a few steps are too noisy a clock
  TrainingTimes times = time_training(config, 4, job, groups);
  if (times.whole < kShort && steps > 40) times = time_training(config, 40, job, groups);
  const double evaluations = 1 + std::max(1.0, ceil_of(static_cast<std::int64_t>(options.evaluate_every)));
  const double comparisons = ceil_of(static_cast<std::int64_t>(options.cosine_every));
  return times.set_up + static_cast<double>(steps) * times.step + comparisons * times.comparison +
         evaluations * times.evaluation;
}

double seconds_of_gradcheck(const Config& config, std::vector<GroupCosine>& groups) {
  const std::string estimator = run_options(config).estimator;
  const double start = now();
  TrainedStarts starts;
  const GradcheckReport report = gradcheck(config, {{estimator}, false, false, &starts});
  for (const GradcheckRow& row : report.rows) {
    if (row.estimator == estimator && row.group != "all") groups.push_back({row.group, row.agreement.cosine});
  }
  return now() - start;
}

double seconds_of_stability(const Config& config) {
  const double start = now();
  static_cast<void>(chip_yield(config, 1));
  return now() - start;
}

void measure(const Config& config, PointJob job, PointKind& kind, std::vector<GroupCosine>& groups) {
  const bool told = forget_peak();
  const double before = memory_of("VmRSS");
  try {
    kind.seconds = job == PointJob::gradcheck   ? seconds_of_gradcheck(config, groups)
                   : job == PointJob::stability ? seconds_of_stability(config)
                                                : seconds_of_training(config, job, groups);
  } catch (const UserError& error) {
    kind.problem = error.what();
  } catch (const NumericalFailure& error) {
    kind.problem = error.what();
  } catch (const std::bad_alloc&) {
    kind.problem = "out of memory";
  }
  kind.bytes = told ? std::max(0.0, memory_of("VmHWM") - before) : kNan;
}

/// Time until the last of these ends, `at_once` at a time, the longest first.
double makespan(std::vector<double> seconds, int at_once) {
  std::sort(seconds.rbegin(), seconds.rend());
  std::priority_queue<double, std::vector<double>, std::greater<>> free_at;
  for (int i = 0; i < at_once; ++i) free_at.push(0);
  double last = 0;
  for (const double one : seconds) {
    const double end = free_at.top() + one;
    free_at.pop();
    free_at.push(end);
    last = std::max(last, end);
  }
  return last;
}

}  // namespace

StudyEstimate estimate_points(const SweepGrid& grid, PointJob job,
                              const std::function<double(const Sweep&)>& file_bytes,
                              const std::function<bool(std::size_t, std::size_t)>& watch) {
  StudyEstimate out;
  Sweep sweep = grid.sweep;
  std::vector<std::size_t> first, kind_at(sweep.points.size(), 0);  // first point of each kind; kind of each point
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    const SweepPoint& point = sweep.points[i];
    out.invalid += point.invalid() ? 1 : 0;
    if (!point.status.empty() || !sweep.shard.has(i)) continue;
    const std::string name = kind_of(sweep, point);
    const auto is_it = [&name](const PointKind& kind) { return kind.name == name; };
    auto at = std::find_if(out.kinds.begin(), out.kinds.end(), is_it);
    if (at == out.kinds.end()) {
      at = out.kinds.insert(at, PointKind{name});
      first.push_back(i);
    }
    ++at->points;
    kind_at[i] = static_cast<std::size_t>(at - out.kinds.begin());
  }
  out.points = sweep.count_own();
  out.left = sweep.count_left();
  std::vector<std::vector<GroupCosine>> groups(out.kinds.size());
  const double base = memory_of("VmRSS");
  for (std::size_t k = 0; k < out.kinds.size(); ++k) {
    try {
      const Interruptible here;
      out.interrupted = watch && !watch(k, out.kinds.size());
      if (!out.interrupted) measure(grid.config(first[k]), job, out.kinds[k], groups[k]);
    } catch (const Interrupted&) {
      out.interrupted = true;
    }
    if (out.interrupted) return out;
  }
  std::vector<double> seconds;
  double largest = 0;
  for (const PointKind& kind : out.kinds) largest = std::max(largest, kind.bytes);
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    SweepPoint& point = sweep.points[i];
    if (!point.status.empty() || !sweep.shard.has(i)) continue;
    seconds.push_back(out.kinds[kind_at[i]].seconds);
    point.status = "ok";
    point.metrics.assign(sweep.metrics.size(), kNan);
    point.groups = groups[kind_at[i]];
  }
  out.at_once = std::max(1, std::min(sweep_threads(grid.base), static_cast<int>(out.left)));
  out.seconds = makespan(seconds, out.at_once);
  out.bytes = base + out.at_once * largest;
  out.file_bytes = file_bytes(sweep);
  return out;
}

StudyEstimate estimate_sweep(const ConfigSource& source, const SweepFiles& files,
                             const std::function<bool(std::size_t, std::size_t)>& watch) {
  SweepGrid grid = make_sweep_grid(source);
  grid.sweep.shard = files.shard;
  use_product_kernel(grid.base);
  SweepFile file(files, grid.base);
  if (files.resume) file.restore(Stored::ended_well, grid);
  return estimate_points(
      grid, sweep_job(grid.base), [&file](const Sweep& sweep) { return static_cast<double>(file.bytes(sweep)); },
      watch);
}

}  // namespace nudge
