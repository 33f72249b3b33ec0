// SPDX-License-Identifier: Apache-2.0
#include "training/compare/compare.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include "sim/base/errors.hpp"
#include "sim/base/ranks.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/output_lock.hpp"
#include "training/compare/compare_file.hpp"
#include "training/config/config_table.hpp"
#include "training/config/setup.hpp"
#include "training/data/task.hpp"
#include "training/sweep/farm.hpp"
#include "training/sweep/sweep_points.hpp"

namespace nudge {
namespace {

/// What the whole comparison goes by.
struct Protocol {
  Config base;
  std::vector<GridAxis> axes;
  std::vector<Entrant> entrants;
  std::vector<std::int64_t> tuning_seeds, test_seeds;
  std::vector<Combination> combinations;
};

Protocol read_protocol(const ConfigSource& source) {
  Protocol p{parse_program_config(source.name, source.text, source.settings), {}, {}, {}, {}, {}};
  p.axes = p.base.grid("compare.grid");
  check_axes(source.name, "compare.grid", p.axes);
  p.entrants = read_entrants(p.base, source.name);
  p.tuning_seeds = p.base.integers("compare.tuning_seeds");
  p.test_seeds = p.base.integers("compare.test_seeds");
  p.combinations = all_combinations(p.axes);
  if (p.test_seeds.empty()) throw UserError(source.name + ": compare.test_seeds is empty (name one seed or more)");
  if (p.tuning_seeds.empty() && p.combinations.size() > 1) {
    throw UserError(source.name + ": compare.tuning_seeds is empty (a grid of several points needs one)");
  }
  if (p.base.real("data.test_fraction") == 0) {
    throw UserError(source.name + ": data.test_fraction = 0 (must be > 0: a comparison is reported on the test part)");
  }
  return p;
}

std::vector<std::string> settings_of(const Entrant& entrant, const Combination& combination) {
  std::vector<std::string> settings = entrant.settings;
  settings.insert(settings.end(), combination.begin(), combination.end());
  return settings;
}

/// A grid without points, its columns the entrant and the tuned keys.
SweepGrid empty_grid(const Protocol& protocol) {
  SweepGrid grid{protocol.base};
  grid.sweep.keys = {"entrant"};
  grid.sweep.numeric = {false};
  for (const GridAxis& axis : protocol.axes) {
    grid.sweep.keys.push_back(axis.key);
    grid.sweep.numeric.push_back(is_numeric_key(axis.key));
  }
  grid.sweep.metrics = sweep_metrics("train", score_metric(protocol.base));
  return grid;
}

/// Every run of the tuning. The test runs are at some of the same places with other seeds: this checks them as well.
SweepGrid tuning_grid(const ConfigSource& source, const Protocol& protocol) {
  SweepGrid grid = empty_grid(protocol);
  GridBuilder builder(source, EndCosine::as_configured, grid);
  const bool tunes = protocol.combinations.size() > 1;
  for (const Entrant& entrant : protocol.entrants) {
    for (const Combination& combination : protocol.combinations) {
      builder.add(settings_of(entrant, combination), {entrant.name},
                  tunes ? protocol.tuning_seeds : protocol.test_seeds);
    }
  }
  builder.finish();
  if (!tunes) {
    grid.settings.clear();
    grid.sweep.points.clear();
  }
  return grid;
}

SweepGrid empty_test_grid(const Protocol& protocol) {
  SweepGrid grid = empty_grid(protocol);
  for (SweepMetric& metric : test_metrics(score_metric(protocol.base))) grid.sweep.metrics.push_back(std::move(metric));
  return grid;
}

/// Test runs at every place of the grid: what a file may hold before its tuning is complete.
SweepGrid every_test(const ConfigSource& source, const Protocol& protocol) {
  SweepGrid grid = empty_test_grid(protocol);
  GridBuilder builder(source, EndCosine::as_configured, grid);
  for (const Entrant& entrant : protocol.entrants) {
    for (const Combination& combination : protocol.combinations) {
      builder.add(settings_of(entrant, combination), {entrant.name}, protocol.test_seeds);
    }
  }
  builder.finish();
  return grid;
}

SweepGrid test_grid(const ConfigSource& source, const Protocol& protocol, const std::vector<ComparedEntrant>& rows) {
  SweepGrid grid = empty_test_grid(protocol);
  GridBuilder builder(source, EndCosine::as_configured, grid);
  for (const ComparedEntrant& row : rows) {
    if (row.choice)
      builder.add(settings_of(row.entrant, row.choice->combination), {row.entrant.name}, protocol.test_seeds);
  }
  builder.finish();
  return grid;
}

std::vector<ComparedEntrant> chosen_entrants(const Protocol& protocol, const Sweep& tuning) {
  std::vector<ComparedEntrant> rows;
  for (const Entrant& entrant : protocol.entrants) {
    std::vector<SweepPoint> own;
    for (const SweepPoint& point : tuning.points) {
      if (point.values.front() == entrant.name) own.push_back(point);
    }
    rows.push_back({entrant, choose(protocol.axes, own, tuning.metrics)});
  }
  return rows;
}

/// Metric of an entrant's test runs in the order of the seeds; NaN where the run did not end well.
std::vector<double> over_seeds(const Sweep& test, const std::string& entrant, const std::vector<std::int64_t>& seeds,
                               const std::string& metric) {
  std::size_t m = 0;
  while (test.metrics[m].name != metric) ++m;
  std::vector<double> values(seeds.size(), std::numeric_limits<double>::quiet_NaN());
  for (const SweepPoint& point : test.points) {
    for (std::size_t s = 0; s < seeds.size(); ++s) {
      const bool here = point.values.front() == entrant && point.seed == seeds[s] && point.status == "ok";
      if (here) values[s] = point.metrics[m];
    }
  }
  return values;
}

double sum_of_finite(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::isfinite(value) ? value : 0;
  return sum;
}

void summarise(const Protocol& protocol, Comparison& out) {
  const auto& seeds = protocol.test_seeds;
  const std::string& first = out.entrants.front().entrant.name;
  const auto baseline = over_seeds(out.test, first, seeds, "test_loss");
  for (ComparedEntrant& row : out.entrants) {
    const std::string& name = row.entrant.name;
    row.runs = row.failed = 0;
    for (const SweepPoint& point : out.test.points) {
      if (point.values.front() == name && !point.status.empty()) ++(point.status == "ok" ? row.runs : row.failed);
    }
    const auto test = over_seeds(out.test, name, seeds, "test_loss");
    row.test = spread_of_finite(test);
    row.validation = spread_of_finite(over_seeds(out.test, name, seeds, "validation_loss"));
    row.skipped = sum_of_finite(over_seeds(out.test, name, seeds, "skipped"));
    row.nonfinite = sum_of_finite(over_seeds(out.test, name, seeds, "nonfinite"));
    row.difference = paired_difference(test, baseline);
    if (out.metric.empty()) continue;
    const std::string score = "test_" + out.metric;
    row.validation_score = spread_of_finite(over_seeds(out.test, name, seeds, "validation_" + out.metric));
    row.test_score = spread_of_finite(over_seeds(out.test, name, seeds, score));
    row.score_difference =
        paired_difference(over_seeds(out.test, name, seeds, score), over_seeds(out.test, first, seeds, score));
  }
}

}  // namespace

Comparison run_compare(const ConfigSource& source, const SweepFiles& files, const SweepObserver& observer) {
  const bool leads = this_rank() == 0;
  std::optional<OutputLock> lock;
  if (leads) {
    check_output_path(files.output, files.resume ? Overwrite::replace : Overwrite::must_not_exist);
    lock.emplace(files.output);
  }
  const Protocol protocol = read_protocol(source);
  const SweepGrid tuning = tuning_grid(source, protocol);
  use_product_kernel(protocol.base);
  CompareFile file(files, protocol.base);
  Comparison out;
  for (const GridAxis& axis : protocol.axes) out.keys.push_back(axis.key);
  out.lines = tuning.sweep.lines;
  out.metric = score_metric(protocol.base);
  out.references = tuning.sweep.references;
  out.tuning = tuning.sweep;
  const bool resumes = files.resume && leads;
  if (resumes) {
    file.expect_same_config(protocol.base, out.keys);
    file.restore("tuning", out.tuning);
    out.test = every_test(source, protocol).sweep;  // kept in the file while the tuning goes on
    file.restore("test", out.test);
  }
  share_results(out.tuning);
  const auto store = [&] { file.write(out); };
  run_points(tuning, PointJob::train, observer, store, out.tuning);
  out.interrupted = out.tuning.interrupted;
  if (out.interrupted) return out;
  out.entrants = chosen_entrants(protocol, out.tuning);
  const SweepGrid test = test_grid(source, protocol, out.entrants);
  out.test = test.sweep;
  if (resumes) file.restore("test", out.test);
  share_results(out.test);
  run_points(
      test, PointJob::train_and_test, observer,
      [&] {
        summarise(protocol, out);
        store();
      },
      out.test);
  out.interrupted = out.test.interrupted;
  summarise(protocol, out);
  return out;
}

StudyEstimate estimate_compare(const ConfigSource& source, const SweepFiles& files,
                               const std::function<bool(std::size_t, std::size_t)>& watch) {
  const Protocol protocol = read_protocol(source);
  use_product_kernel(protocol.base);
  SweepGrid grid = empty_test_grid(protocol);
  GridBuilder builder(source, EndCosine::as_configured, grid);
  const std::size_t tuned = protocol.combinations.size() > 1 ? protocol.combinations.size() : 0;
  for (const Entrant& entrant : protocol.entrants) {
    for (std::size_t c = 0; c < tuned; ++c) {
      builder.add(settings_of(entrant, protocol.combinations[c]), {entrant.name}, protocol.tuning_seeds);
    }
    builder.add(settings_of(entrant, protocol.combinations.front()), {entrant.name}, protocol.test_seeds);
  }
  builder.finish();
  CompareFile file(files, protocol.base);
  if (files.resume) {
    std::vector<std::string> keys;
    for (const GridAxis& axis : protocol.axes) keys.push_back(axis.key);
    file.expect_same_config(protocol.base, keys);
    file.restore("test", grid.sweep);
    Sweep tuning = grid.sweep;
    tuning.metrics = sweep_metrics("train", score_metric(protocol.base));  // those runs have no test loss
    file.restore("tuning", tuning);
    for (std::size_t i = 0; i < tuning.points.size(); ++i) grid.sweep.points[i].status = tuning.points[i].status;
  }
  const auto bytes = [&](const Sweep& sweep) {
    Comparison all;
    all.tuning = sweep;
    return static_cast<double>(file.bytes(all));
  };
  return estimate_points(grid, PointJob::train_and_test, bytes, watch);
}

}  // namespace nudge
