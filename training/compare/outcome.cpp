// SPDX-License-Identifier: Apache-2.0
#include "training/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/base/open_list.hpp"
#include "training/config/config_table.hpp"
#include "training/data/data_options.hpp"
#include "training/data/task.hpp"
#include "training/sweep/sweep_points.hpp"

namespace nudge {
namespace {

/// Metric of an entrant's test runs in the order of the seeds: NaN where a run is missing, failed_value() where it
/// failed.
std::vector<double> over_seeds(const Sweep& test, const std::string& entrant, const std::vector<std::int64_t>& seeds,
                               const std::string& metric) {
  const std::size_t m = place_named(test.metrics, metric);
  std::vector<double> values(seeds.size(), std::numeric_limits<double>::quiet_NaN());
  for (const SweepPoint& point : test.points) {
    for (std::size_t s = 0; s < seeds.size(); ++s) {
      if (point.values.front() != entrant || point.seed != seeds[s] || point.status.empty()) continue;
      values[s] = point.status == "ok" ? point.metrics[m] : failed_value(metric);
    }
  }
  return values;
}

double sum_of_finite(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::isfinite(value) ? value : 0;
  return sum;
}

}  // namespace

std::vector<ComparedEntrant> chosen_entrants(const CompareProtocol& protocol, const Sweep& tuning) {
  std::vector<ComparedEntrant> rows;
  for (std::size_t e = 0; e < protocol.entrants.size(); ++e) {
    const Entrant& entrant = protocol.entrants[e];
    std::vector<SweepPoint> own;
    for (const SweepPoint& point : tuning.points) {
      if (point.values.front() == entrant.name) own.push_back(point);
    }
    rows.push_back({entrant, choose(protocol.axes, protocol.combinations[e], own, tuning.metrics)});
  }
  return rows;
}

void summarise(const CompareProtocol& protocol, const Sweep& test, std::vector<ComparedEntrant>& entrants) {
  const auto& seeds = protocol.test_seeds;
  const std::string metric = score_metric(protocol.base);
  const std::string& first = entrants.front().entrant.name;
  const auto baseline = over_seeds(test, first, seeds, "test_loss");
  const int comparisons = std::max(1, static_cast<int>(entrants.size()) - 1);
  for (ComparedEntrant& row : entrants) {
    const std::string& name = row.entrant.name;
    row.runs = row.failed = 0;
    for (const SweepPoint& point : test.points) {
      if (point.values.front() == name && !point.status.empty()) ++(point.status == "ok" ? row.runs : row.failed);
    }
    const auto of = [&](const std::string& name_of_metric) { return over_seeds(test, name, seeds, name_of_metric); };
    const auto losses = of("test_loss");
    row.test = cell_spread(losses, "test_loss");
    row.validation = cell_spread(of("validation_loss"), "validation_loss");
    row.skipped = sum_of_finite(of("skipped"));
    row.nonfinite = sum_of_finite(of("nonfinite"));
    row.difference = paired_difference(losses, baseline, "test_loss", comparisons);
    if (metric.empty()) continue;
    const std::string score = "test_" + metric;
    row.validation_score = cell_spread(of("validation_" + metric), "validation_" + metric);
    row.test_score = cell_spread(of(score), score);
    row.score_difference = paired_difference(of(score), over_seeds(test, first, seeds, score), score, comparisons);
    if (metric != "accuracy") continue;
    const double samples = spread_of_finite(of("test_samples")).mean;
    row.test_samples = std::isfinite(samples) ? samples : 0;
    // Tokens of one sequence are not independent: only samples are.
    const bool binomial = task_kind(protocol.base).rows == Rows::features;
    row.one_run = share_interval(binomial ? row.test_score.shown() : std::nan(""), row.test_samples);
  }
}

namespace {

/// Mean validation loss of the runs of one combination; NaN when one of them failed.
double mean_loss(const SweepPoint* first, std::size_t seeds, std::size_t metric) {
  double sum = 0;
  for (std::size_t s = 0; s < seeds; ++s) {
    if (first[s].status != "ok") return std::numeric_limits<double>::quiet_NaN();
    sum += first[s].metrics[metric];
  }
  return sum / static_cast<double>(seeds);
}

bool sets(const Combination& combination, const std::string& key) {
  return std::any_of(combination.begin(), combination.end(),
                     [&](const std::string& one) { return one.starts_with(key + "="); });
}

/// Keys of which the chosen point has an outermost value. `keys` are the last of a point's columns.
std::vector<std::string> edges_of(const std::vector<GridAxis>& axes, const SweepPoint& chosen,
                                  const std::vector<SweepPoint>& all) {
  std::vector<std::string> edges;
  const std::size_t labels = chosen.numbers.size() - axes.size();
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const double value = chosen.numbers[labels + a];
    if (!std::isfinite(value)) continue;  // a text has no edge
    double low = value, high = value;
    for (const SweepPoint& point : all) {
      low = std::min(low, point.numbers[labels + a]);
      high = std::max(high, point.numbers[labels + a]);
    }
    if (low < high && (value == low || value == high)) edges.push_back(axes[a].key);
  }
  return edges;
}

}  // namespace

std::optional<Choice> choose(const std::vector<GridAxis>& axes, const std::vector<Combination>& combinations,
                             const std::vector<SweepPoint>& tuning, const std::vector<Measure>& metrics) {
  Choice choice{combinations.front(), {}, {}, std::numeric_limits<double>::quiet_NaN()};
  if (tuning.empty()) {
    for (const GridAxis& axis : axes) choice.values.push_back(axis.values.front());
    return choice;
  }
  const std::size_t seeds = tuning.size() / combinations.size();
  NUDGE_EXPECT(seeds >= 1 && seeds * combinations.size() == tuning.size());
  const std::size_t metric = place_named(metrics, "validation_loss");
  std::size_t best = combinations.size();
  for (std::size_t c = 0; c < combinations.size(); ++c) {
    const double loss = mean_loss(&tuning[c * seeds], seeds, metric);
    if (!std::isfinite(loss) || (best < combinations.size() && !(loss < choice.validation_loss))) continue;
    best = c;
    choice.validation_loss = loss;
  }
  if (best == combinations.size()) return std::nullopt;
  const SweepPoint& chosen = tuning[best * seeds];
  choice.combination = combinations[best];
  const std::size_t labels = chosen.values.size() - axes.size();
  for (std::size_t a = 0; a < axes.size(); ++a) {
    choice.values.push_back(sets(choice.combination, axes[a].key) ? chosen.values[labels + a] : "");
  }
  choice.edges = edges_of(axes, chosen, tuning);
  return choice;
}

namespace {

bool has_samples(const Config& config) { return task_kind(config).rows == Rows::features; }

/// True if an entrant sets keys by the name of a preset, so that its values alone do not tell its choices.
bool sets_preset(const Entrant& entrant) {
  return std::any_of(entrant.settings.begin(), entrant.settings.end(), [](const std::string& one) {
    const std::string key = one.substr(0, one.find('='));
    const bool is_named = one.size() > key.size() + 1;
    return is_named && (key == "preset" || key == "device.preset" || key == "hardware.level");
  });
}

std::string key_of(const std::string& setting) { return setting.substr(0, setting.find('=')); }

Config moved(Config config, const std::vector<std::string>& settings) {
  for (const std::string& one : settings) config.set_from_text(key_of(one), one.substr(one.find('=') + 1));
  return config;
}

/// Part of a combination without the keys that the entrant does not read in it.
Combination read_part(const Config& base, const Entrant& entrant, const Combination& combination) {
  const Config config = moved(moved(base, entrant.settings), combination);
  Combination part;
  for (const std::string& one : combination) {
    if (training_reads(config, key_of(one))) part.push_back(one);
  }
  return part;
}

std::vector<Combination> combinations_of(const CompareProtocol& protocol, const Entrant& entrant) {
  const std::vector<Combination> all = all_combinations(protocol.axes);
  if (sets_preset(entrant)) return all;
  std::vector<Combination> distinct;
  for (const Combination& one : all) {
    Combination part = one;
    try {
      part = read_part(protocol.base, entrant, one);
    } catch (const UserError&) {
      return all;  // the builder of the points says what is wrong, and where
    }
    if (std::find(distinct.begin(), distinct.end(), part) == distinct.end()) distinct.push_back(std::move(part));
  }
  return distinct;
}

void expect_axes_read(const CompareProtocol& protocol, const std::string& name) {
  for (const GridAxis& axis : protocol.axes) {
    const bool is_read = std::any_of(protocol.combinations.begin(), protocol.combinations.end(), [&](const auto& own) {
      return std::any_of(own.begin(), own.end(), [&](const Combination& one) {
        return std::any_of(one.begin(), one.end(), [&](const std::string& s) { return key_of(s) == axis.key; });
      });
    });
    if (!is_read) throw UserError(fmt::format("{}: compare.grid.{} (no method reads it)", name, axis.key));
  }
}

}  // namespace

bool CompareProtocol::tunes() const {
  return std::any_of(combinations.begin(), combinations.end(), [](const auto& own) { return own.size() > 1; });
}

std::size_t CompareProtocol::tuning_runs() const {
  std::size_t places = 0;
  for (const auto& own : combinations) places += own.size();
  return tunes() ? places * tuning_seeds.size() : 0;
}

ConfigSource compare_source(const ConfigSource& source) {
  const Config config = parse_program_config(source.name, source.text, source.settings);
  const bool is_named = config.origin("data.split_seed").layer != Layer::standard;
  ConfigSource out = source;
  if (has_samples(config) && !is_named) out.settings.insert(out.settings.begin(), "data.split_seed=seed");
  return out;
}

namespace {

/// What the interval of a paired difference covers, and what stays the same in all of its runs.
std::string covered(const Config& config) {
  if (!has_samples(config)) {
    return task_kind(config).name == "characters"
               ? "the interval covers seeds (initial weights, order of the batches) on this one text"
               : "the interval covers seeds (initial weights, batches) on this one set of sequences";
  }
  const DataOptions data = data_options(config);
  const std::string test = data.test_file.empty() ? fmt::format("one test split, data.test_seed = {}", data.test_seed)
                                                  : "the test samples of data.test_file";
  return data.split_seed == DataOptions::by_seed
             ? "the interval covers seeds and splits into training and validation (data.split_seed), on " + test
             : fmt::format(
                   "the interval covers seeds (initial weights, order of the batches) on one split, data.split_seed "
                   "= {}, on {}",
                   data.split_seed, test);
}

}  // namespace

std::string intervals_hold(const Config& config) {
  const std::size_t entrants = read_entrants(config).size();
  return covered(config) +
         (entrants > 2 ? fmt::format("; 95 % for all {} differences together (Bonferroni)", entrants - 1) : "");
}

CompareProtocol read_protocol(const Config& config, const std::string& name) {
  CompareProtocol p{config, {}, {}, {}, {}, {}, {}};
  p.axes = p.base.grid("compare.grid");
  check_axes(name, "compare.grid", p.axes);
  p.entrants = read_entrants(p.base);
  p.tuning_seeds = p.base.integers("compare.tuning_seeds");
  p.test_seeds = p.base.integers("compare.test_seeds");
  for (const Entrant& entrant : p.entrants) p.combinations.push_back(combinations_of(p, entrant));
  expect_axes_read(p, name);
  for (const GridAxis& axis : p.axes) {
    if (axis.key == "data.split_seed" || axis.key == "data.test_seed")
      throw UserError(fmt::format("{}: compare.grid.{} (splits of the data are drawn, not tuned)", name, axis.key));
  }
  if (p.test_seeds.empty()) throw UserError(name + ": compare.test_seeds is empty (name one seed or more)");
  if (p.tuning_seeds.empty() && p.tunes()) {
    throw UserError(name + ": compare.tuning_seeds is empty (a grid of several points needs one)");
  }
  if (data_options(p.base).test_fraction == 0) {
    throw UserError(name + ": data.test_fraction = 0 (must be > 0: a comparison is reported on the test split)");
  }
  return p;
}

Sweep empty_table(const CompareProtocol& protocol, CompareStage stage) {
  Sweep table;
  table.keys = {"entrant"};
  table.numeric = {false};
  for (const GridAxis& axis : protocol.axes) {
    table.keys.push_back(axis.key);
    table.numeric.push_back(is_numeric_key(axis.key));
  }
  table.metrics = sweep_metrics("train", protocol.base);
  if (stage == CompareStage::tuning) return table;
  for (Measure& metric : test_metrics(protocol.base)) table.metrics.push_back(std::move(metric));
  return table;
}

}  // namespace nudge
