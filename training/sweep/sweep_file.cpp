// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/sweep_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sim/base/parallel.hpp"
#include "training/config/config_table.hpp"
#include "training/config/stored_config.hpp"

namespace nudge {
namespace {

/// "points_cosine": where the cosines of the parameter groups stand.
std::string cosine_group(const std::string& group) { return group + "_cosine"; }

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
  if (!file.has(cosine_group(group))) return points;
  for (const std::string& name : file.datasets(cosine_group(group))) {
    const auto values = file.reals<double>(cosine_group(group) + "/" + name, H5Shape{n});
    for (std::size_t i = 0; i < points.size(); ++i) points[i].groups.push_back({name, values[i]});
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

void take_stored_points(const H5Reader& file, const std::string& group, Sweep& sweep) {
  if (!file.has(group)) return;
  for (const SweepPoint& stored : stored_points(file, group, sweep)) {
    if (stored.status != "ok") continue;
    for (SweepPoint& point : sweep.points) {
      if (!same_place(stored, point, sweep.numeric)) continue;
      point.status = stored.status;
      point.metrics = stored.metrics;
      point.groups = stored.groups;
    }
  }
}

bool write_points(H5Document& document, const std::string& group, const Sweep& sweep) {
  std::vector<const SweepPoint*> finished;
  for (const SweepPoint& point : sweep.points) {
    if (!point.status.empty()) finished.push_back(&point);
  }
  if (finished.empty()) return false;
  const auto column = [&]<class T>(const std::string& name, const std::string& unit, const std::string& description,
                                   auto get, T /*kind*/) {
    std::vector<T> values;
    for (const SweepPoint* point : finished) values.push_back(get(*point));
    document.column(group + "/" + name, std::move(values), {unit, description, {"point"}});
  };
  for (std::size_t k = 0; k < sweep.keys.size(); ++k) {
    const ParamRow* row = find_row(program_table(), sweep.keys[k]);  // null: of the study itself
    const std::string doc = row != nullptr ? row->doc : "what is compared";
    if (sweep.numeric[k]) {
      column(
          sweep.keys[k], row->unit == Unit::none ? "1" : std::string(unit_symbol(row->unit)), doc,
          [k](const SweepPoint& p) { return p.numbers[k]; }, 0.0);
    } else {
      column(
          sweep.keys[k], "1", doc, [k](const SweepPoint& p) { return p.values[k]; }, std::string());
    }
  }
  column(
      "seed", "1", "seed of the run", [](const SweepPoint& p) { return p.seed; }, std::int64_t{0});
  column(
      "status", "1", "ok, or what went wrong", [](const SweepPoint& p) { return p.status; }, std::string());
  for (std::size_t m = 0; m < sweep.metrics.size(); ++m) {
    const SweepMetric& metric = sweep.metrics[m];
    column(
        metric.name, metric.unit, metric.description, [m](const SweepPoint& p) { return p.metrics[m]; }, 0.0);
  }
  document.attribute("mode", sweep.mode, group);
  document.attribute("keys", fmt::format("{}", fmt::join(sweep.keys, ", ")), group);
  for (const std::string& name : group_names(finished)) {
    std::vector<double> values;
    for (const SweepPoint* point : finished) values.push_back(cosine_of(*point, name));
    document.column(cosine_group(group) + "/" + name, std::move(values),
                    {"1", "cosine over the parameter group; NaN where its exact gradient is zero", {"point"}});
  }
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
  take_stored_points(file, "points", sweep);
}

void SweepFile::write(const Sweep& sweep) {
  H5Document document;
  record_.wall_time_s = earlier_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  add_run_record(document, record_);
  document.attribute("points_total", static_cast<std::int64_t>(sweep.points.size()));
  if (sweep.lines) write_text_lines(*sweep.lines, document);
  if (sweep.references) write_reference_scores(*sweep.references, document);
  if (!write_points(document, "points", sweep)) return;
  document.write(files_.output, overwrite_);
  overwrite_ = Overwrite::replace;
}

}  // namespace nudge
