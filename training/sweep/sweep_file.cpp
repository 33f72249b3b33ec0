// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/sweep_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sim/base/parallel.hpp"
#include "training/config/config_table.hpp"
#include "training/config/stored_config.hpp"
#include "training/sweep/result_order.hpp"

namespace nudge {

std::string plan_group(const std::string& group) { return group == "points" ? "plan" : group + "_plan"; }
std::string cosine_group(const std::string& group) { return group + "_cosine"; }

namespace {

/// The finished points of the file, as texts and numbers of the sweep's keys.
std::vector<SweepPoint> stored_points(const H5Reader& file, const std::string& group, const Sweep& sweep) {
  const auto seeds = file.integers(group + "/seed");
  const auto n = static_cast<Index>(seeds.size());
  const auto statuses = file.texts(group + "/status", H5Shape{n});
  std::vector<SweepPoint> points(seeds.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].seed = seeds[i];
    points[i].status = statuses[i];
  }
  for (std::size_t k = 0; k < sweep.keys.size(); ++k) {
    const std::string path = group + "/" + sweep.keys[k];
    const auto numbers = sweep.numeric[k] ? file.reals<double>(path, H5Shape{n}) : std::vector<double>();
    const auto texts = sweep.numeric[k] ? std::vector<std::string>() : file.texts(path, H5Shape{n});
    for (std::size_t i = 0; i < points.size(); ++i) {
      points[i].numbers.push_back(sweep.numeric[k] ? numbers[i] : std::nan(""));
      points[i].values.push_back(sweep.numeric[k] ? "" : texts[i]);
    }
  }
  for (const SweepMetric& metric : sweep.metrics) {
    const auto values = file.reals<double>(group + "/" + metric.name, H5Shape{n});
    for (std::size_t i = 0; i < points.size(); ++i) points[i].metrics.push_back(values[i]);
  }
  if (file.has(cosine_group(group))) {
    for (const std::string& name : file.datasets(cosine_group(group))) {
      const auto values = file.reals<double>(cosine_group(group) + "/" + name, H5Shape{n});
      for (std::size_t i = 0; i < points.size(); ++i) points[i].groups.push_back({name, values[i]});
    }
  }
  if (!file.has(plan_group(group))) return points;  // of a version that did not keep it
  const auto rows = file.integers(plan_group(group) + "/row", H5Shape{-1});
  const auto seconds = file.reals<double>(plan_group(group) + "/seconds", H5Shape{static_cast<Index>(rows.size())});
  for (std::size_t p = 0; p < rows.size(); ++p) {
    if (rows[p] >= 0 && rows[p] < n) points[static_cast<std::size_t>(rows[p])].seconds = seconds[p];
  }
  return points;
}

/// Names of all groups of all points, in the order in which they come.
std::vector<std::string> group_names(const std::vector<const SweepPoint*>& points) {
  std::vector<std::string> names;
  for (const SweepPoint* point : points) {
    for (const GroupCosine& one : point->groups) {
      if (std::find(names.begin(), names.end(), one.group) == names.end()) names.push_back(one.group);
    }
  }
  return names;
}

double cosine_of(const SweepPoint& point, const std::string& group) {
  const auto at = std::find_if(point.groups.begin(), point.groups.end(),
                               [&](const GroupCosine& one) { return one.group == group; });
  return at == point.groups.end() ? std::nan("") : at->cosine;
}

bool same_place(const SweepPoint& a, const SweepPoint& b, const std::vector<bool>& numeric) {
  if (a.seed != b.seed) return false;
  for (std::size_t k = 0; k < numeric.size(); ++k) {
    if (numeric[k] ? a.numbers[k] != b.numbers[k] : a.values[k] != b.values[k]) return false;
  }
  return true;
}

}  // namespace

void take_stored_points(const H5Reader& file, const std::string& group, Stored kept, Sweep& sweep) {
  if (!file.has(group)) return;
  for (const SweepPoint& stored : stored_points(file, group, sweep)) {
    if (kept == Stored::ended_well && stored.status != "ok") continue;
    for (SweepPoint& point : sweep.points) {
      if (!same_place(stored, point, sweep.numeric)) continue;
      point.status = stored.status;
      point.metrics = stored.metrics;
      point.groups = stored.groups;
      point.seconds = stored.seconds;
    }
  }
}

namespace {

using Points = std::vector<const SweepPoint*>;

template <class Get>
void write_column(H5Document& document, const std::string& path, const Points& points, const H5Meaning& meaning,
                  Get get) {
  std::vector<std::decay_t<decltype(get(*points.front()))>> values;
  for (const SweepPoint* point : points) values.push_back(get(*point));
  document.column(path, std::move(values), meaning);
}

/// A column per swept key, and the seed.
void write_places(H5Document& document, const std::string& group, const Sweep& sweep, const Points& points) {
  for (std::size_t k = 0; k < sweep.keys.size(); ++k) {
    const ParamRow* row = find_row(program_table(), sweep.keys[k]);  // null: of the study itself
    const std::string doc = row != nullptr ? row->doc : "what is compared";
    const std::string path = group + "/" + sweep.keys[k];
    if (sweep.numeric[k]) {
      const std::string unit = row->unit == Unit::none ? "1" : std::string(unit_symbol(row->unit));
      write_column(document, path, points, {unit, doc, {"point"}}, [k](const SweepPoint& p) { return p.numbers[k]; });
    } else {
      write_column(document, path, points, {"1", doc, {"point"}}, [k](const SweepPoint& p) { return p.values[k]; });
    }
  }
  write_column(document, group + "/seed", points, {"1", "seed of the run", {"point"}},
               [](const SweepPoint& p) { return p.seed; });
}

/// Every point, finished or not: what merge and watch go by.
void write_plan(H5Document& document, const std::string& group, const Sweep& sweep) {
  Points all;
  std::vector<std::int64_t> rows;
  std::int64_t finished = 0;
  for (const SweepPoint& point : sweep.points) {
    all.push_back(&point);
    rows.push_back(point.status.empty() ? -1 : finished++);
  }
  write_places(document, group, sweep, all);
  document.column(group + "/row", std::move(rows), {"1", "row of the finished run; -1: not run yet", {"point"}});
  write_column(document, group + "/seconds", all, {"s", "time of the run; NaN: not run", {"point"}},
               [](const SweepPoint& p) { return p.seconds; });
}

}  // namespace

bool write_points(H5Document& document, const std::string& group, const Sweep& sweep) {
  Points finished;
  for (const SweepPoint& point : sweep.points) {
    if (!point.status.empty()) finished.push_back(&point);
  }
  if (finished.empty()) return false;
  write_places(document, group, sweep, finished);
  write_column(document, group + "/status", finished, {"1", "ok, or what went wrong", {"point"}},
               [](const SweepPoint& p) { return p.status; });
  for (std::size_t m = 0; m < sweep.metrics.size(); ++m) {
    const SweepMetric& metric = sweep.metrics[m];
    write_column(document, group + "/" + metric.name, finished, {metric.unit, metric.description, {"point"}},
                 [m](const SweepPoint& p) { return p.metrics[m]; });
  }
  document.attribute("mode", sweep.mode, group);
  document.attribute("keys", fmt::format("{}", fmt::join(sweep.keys, ", ")), group);
  std::vector<std::string> results;
  results.reserve(sweep.metrics.size());
  for (const SweepMetric& metric : sweep.metrics) results.push_back(metric.name);
  document.attribute("results", fmt::format("{}", fmt::join(results_in_order(results), ", ")), group);
  for (const std::string& name : group_names(finished)) {
    write_column(document, cosine_group(group) + "/" + name, finished,
                 {"1", "cosine over the parameter group; NaN where its exact gradient is zero", {"point"}},
                 [&name](const SweepPoint& p) { return cosine_of(p, name); });
  }
  write_plan(document, plan_group(group), sweep);
  return true;
}

SweepFile::SweepFile(const SweepFiles& files, const Config& base)
    : files_(files), overwrite_(files.resume ? Overwrite::replace : Overwrite::must_not_exist) {
  record_.kind = "sweep";
  record_.config = dump_toml(base, DumpComments::none);
  record_.seed = base.integer("seed");
  record_.precision = base.text("precision");
  record_.threads = thread_count(static_cast<int>(base.integer("threads")));
  record_.started = now_utc();
}

void SweepFile::expect_same_config(const H5Reader& file, const SweepGrid& grid) const {
  if (file.text_attribute("kind") == "sweep") {
    const std::string keys = fmt::format("{}", fmt::join(grid.sweep.keys, ", "));
    if (const std::string stored = file.text_attribute("keys", "points"); stored != keys) {
      file.fail("attribute keys", fmt::format("the file sweeps {}, the config {}", stored, keys));
    }
  }
  expect_stored_config(file, "sweep", grid.base,
                       [](const std::string& key) { return key.starts_with("sweep.") && key != "sweep.run"; });
}

void SweepFile::restore(SweepGrid& grid) {
  const H5Reader file(files_.output);
  expect_same_config(file, grid);
  record_.started = file.text_attribute("started");
  earlier_ = file.real_attribute("wall_time_s");
  Sweep& sweep = grid.sweep;
  take_stored_points(file, "points", Stored::ended_well, sweep);
}

H5Document SweepFile::document(const Sweep& sweep) const {
  H5Document document;
  add_run_record(document, record_);
  document.attribute("points_total", static_cast<std::int64_t>(sweep.points.size()));
  if (sweep.shard.count > 1) document.attribute("shard", sweep.shard.text());
  if (sweep.lines) write_text_lines(*sweep.lines, document);
  if (sweep.references) write_reference_scores(*sweep.references, document);
  write_points(document, "points", sweep);
  return document;
}

std::size_t SweepFile::bytes(const Sweep& sweep) const { return document(sweep).bytes().size(); }

void SweepFile::write(const Sweep& sweep) {
  const auto finished = [](const SweepPoint& point) { return !point.status.empty(); };
  if (std::none_of(sweep.points.begin(), sweep.points.end(), finished)) return;
  record_.wall_time_s = earlier_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  document(sweep).write(files_.output, overwrite_);
  overwrite_ = Overwrite::replace;
}

}  // namespace nudge
