// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/sweep_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "training/config/config_table.hpp"
#include "training/sweep/spread.hpp"

namespace nudge {

std::string plan_group(const std::string& group) { return group == "points" ? "plan" : group + "_plan"; }
std::string outside_group(const std::string& group) { return group == "points" ? "outside" : group + "_outside"; }
std::string outside_count(const std::string& outside) { return outside + "_runs"; }
std::string cosine_group(const std::string& group) { return group + "_cosine"; }

bool same_run(const SweepPoint& a, const SweepPoint& b, const std::vector<bool>& numeric) {
  return a.seed == b.seed && same_place(a, b, numeric);
}

bool same_place(const SweepPoint& a, const SweepPoint& b, const std::vector<bool>& numeric) {
  for (std::size_t k = 0; k < numeric.size(); ++k) {
    if (numeric[k] ? a.numbers[k] != b.numbers[k] : a.values[k] != b.values[k]) return false;
  }
  return true;
}

namespace {

constexpr const char* kOutside = "finished runs outside the present grid: kept, and in no mean";

/// Reads the seconds of each row; NaN where the file does not tell.
std::vector<double> stored_seconds(const H5Reader& file, const std::string& group, std::size_t n) {
  const H5Shape own{static_cast<Index>(n)};
  if (file.has(group + "/seconds")) return file.reals<double>(group + "/seconds", own);
  std::vector<double> out(n, std::nan(""));
  if (!file.has(plan_group(group))) return out;  // of a version that did not keep it
  const auto rows = file.integers(plan_group(group) + "/row", H5Shape{-1});
  const auto seconds = file.reals<double>(plan_group(group) + "/seconds", H5Shape{static_cast<Index>(rows.size())});
  for (std::size_t p = 0; p < rows.size(); ++p) {
    if (rows[p] >= 0 && static_cast<std::size_t>(rows[p]) < n) out[static_cast<std::size_t>(rows[p])] = seconds[p];
  }
  return out;
}

/// Reads the rows of a group, as texts and numbers of the sweep's keys.
std::vector<SweepPoint> stored_points(const H5Reader& file, const std::string& group, const Sweep& sweep) {
  if (!file.has(group)) return {};
  const auto seeds = file.integers(group + "/seed", H5Shape{-1});
  const H5Shape rows{static_cast<Index>(seeds.size())};
  const auto statuses = file.texts(group + "/status", rows);
  const auto seconds = stored_seconds(file, group, seeds.size());
  std::vector<SweepPoint> points(seeds.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].seed = seeds[i];
    points[i].status = statuses[i];
    points[i].seconds = seconds[i];
  }
  for (std::size_t k = 0; k < sweep.keys.size(); ++k) {
    const std::string path = group + "/" + sweep.keys[k];
    const auto numbers = sweep.numeric[k] ? file.reals<double>(path, rows) : std::vector<double>();
    const auto texts = sweep.numeric[k] ? std::vector<std::string>() : file.texts(path, rows);
    for (std::size_t i = 0; i < points.size(); ++i) {
      points[i].numbers.push_back(sweep.numeric[k] ? numbers[i] : std::nan(""));
      points[i].values.push_back(sweep.numeric[k] ? "" : texts[i]);
    }
  }
  for (const Measure& metric : sweep.metrics) {
    const std::string path = group + "/" + metric.name;
    const bool is_there = file.has(path);  // not in files of earlier versions
    const auto values = is_there ? file.reals<double>(path, rows) : std::vector<double>(points.size(), std::nan(""));
    for (std::size_t i = 0; i < points.size(); ++i) points[i].metrics.push_back(values[i]);
  }
  if (!file.has(cosine_group(group))) return points;
  for (const std::string& name : file.datasets(cosine_group(group))) {
    const auto values = file.reals<double>(cosine_group(group) + "/" + name, rows);
    for (std::size_t i = 0; i < points.size(); ++i) points[i].groups.push_back({name, values[i]});
  }
  return points;
}

/// Names of all parameter groups of all points, in the order in which they come.
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

}  // namespace

void adopt_outside(Sweep& sweep) {
  const auto is_planned = [&](SweepPoint& stored) {
    const auto at = std::find_if(sweep.points.begin(), sweep.points.end(),
                                 [&](const SweepPoint& point) { return same_run(stored, point, sweep.numeric); });
    if (at == sweep.points.end()) return false;
    if (at->status.empty() && stored.status == "ok") {
      at->status = stored.status;
      at->metrics = stored.metrics;
      at->groups = stored.groups;
      at->seconds = stored.seconds;
    }
    return true;
  };
  std::erase_if(sweep.outside, is_planned);
}

void take_stored_points(const H5Reader& file, const std::string& group, Stored kept, Sweep& sweep) {
  for (const std::string& place : {group, outside_group(group)}) {
    for (SweepPoint& stored : stored_points(file, place, sweep)) {
      bool wanted = false;
      for (SweepPoint& point : sweep.points) {
        if (!same_run(stored, point, sweep.numeric)) continue;
        wanted = true;
        if (kept == Stored::ended_well && stored.status != "ok") continue;
        point.status = stored.status;
        point.metrics = stored.metrics;
        point.groups = stored.groups;
        point.seconds = stored.seconds;
      }
      if (!wanted && !stored.invalid()) sweep.outside.push_back(std::move(stored));
    }
  }
}

namespace {

using Points = std::vector<const SweepPoint*>;

/// Writes get(point) of every point as a column.
template <class Get>
void write_column(H5Document& document, const std::string& path, const Points& points, const H5Meaning& meaning,
                  Get get) {
  std::vector<std::decay_t<decltype(get(*points.front()))>> values;
  for (const SweepPoint* point : points) values.push_back(get(*point));
  document.column(path, std::move(values), meaning);
}

/// Writes a column per swept key, and the seed.
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

/// Writes the results of finished runs.
void write_results(H5Document& document, const std::string& group, const Sweep& sweep, const Points& finished) {
  write_places(document, group, sweep, finished);
  write_column(document, group + "/status", finished, {"1", "ok, or what went wrong", {"point"}},
               [](const SweepPoint& p) { return p.status; });
  for (std::size_t m = 0; m < sweep.metrics.size(); ++m) {
    const Measure& metric = sweep.metrics[m];
    write_column(document, group + "/" + metric.name, finished, {metric.unit, metric.description, {"point"}},
                 [m](const SweepPoint& p) { return p.metrics[m]; });
  }
  for (const std::string& name : group_names(finished)) {
    write_column(document, cosine_group(group) + "/" + name, finished,
                 {"1", "cosine over the parameter group; NaN where its exact gradient is zero", {"point"}},
                 [&name](const SweepPoint& p) { return cosine_of(p, name); });
  }
}

void write_seconds(H5Document& document, const std::string& group, const Points& points) {
  write_column(document, group + "/seconds", points, {"s", "time of the run; NaN: not run", {"point"}},
               [](const SweepPoint& p) { return p.seconds; });
}

/// Writes every point, finished or not, for merge and watch.
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
  write_seconds(document, group, all);
  document.attribute("keys", fmt::format("{}", fmt::join(sweep.keys, ", ")), group);
}

void write_outside(H5Document& document, const std::string& group, const Sweep& sweep) {
  if (sweep.outside.empty()) return;
  Points all;
  for (const SweepPoint& point : sweep.outside) all.push_back(&point);
  document.group(group, kOutside);
  write_results(document, group, sweep, all);
  write_seconds(document, group, all);
  document.attribute("keys", fmt::format("{}", fmt::join(sweep.keys, ", ")), group);
  document.attribute(outside_count(group), static_cast<std::int64_t>(all.size()));
}

}  // namespace

bool write_points(H5Document& document, const std::string& group, const Sweep& sweep) {
  Points finished;
  for (const SweepPoint& point : sweep.points) {
    if (!point.status.empty()) finished.push_back(&point);
  }
  write_outside(document, outside_group(group), sweep);
  if (!sweep.points.empty()) write_plan(document, plan_group(group), sweep);
  if (finished.empty()) return false;
  write_results(document, group, sweep, finished);
  document.attribute("mode", sweep.mode, group);
  document.attribute("keys", fmt::format("{}", fmt::join(sweep.keys, ", ")), group);
  std::vector<std::string> results;
  results.reserve(sweep.metrics.size());
  for (const Measure& metric : sweep.metrics) results.push_back(metric.name);
  document.attribute("results", fmt::format("{}", fmt::join(results_in_order(results), ", ")), group);
  return true;
}

}  // namespace nudge
