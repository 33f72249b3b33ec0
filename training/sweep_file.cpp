// SPDX-License-Identifier: Apache-2.0
#include "training/sweep_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "sim/base/parallel.hpp"
#include "training/config_table.hpp"
#include "training/stored_config.hpp"

namespace nudge {
namespace {

/// The finished points of the file, as texts and numbers of the sweep's keys.
std::vector<SweepPoint> stored_points(const H5Reader& file, const Sweep& sweep) {
  const auto seeds = file.integers("points/seed");
  const auto n = static_cast<Index>(seeds.size());
  const auto statuses = file.texts("points/status", H5Shape{n});
  std::vector<SweepPoint> points(seeds.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].seed = seeds[i];
    points[i].status = statuses[i];
  }
  for (std::size_t k = 0; k < sweep.keys.size(); ++k) {
    const std::string path = "points/" + sweep.keys[k];
    const auto numbers = sweep.numeric[k] ? file.reals<double>(path, H5Shape{n}) : std::vector<double>();
    const auto texts = sweep.numeric[k] ? std::vector<std::string>() : file.texts(path, H5Shape{n});
    for (std::size_t i = 0; i < points.size(); ++i) {
      points[i].numbers.push_back(sweep.numeric[k] ? numbers[i] : std::nan(""));
      points[i].values.push_back(sweep.numeric[k] ? "" : texts[i]);
    }
  }
  for (const SweepMetric& metric : sweep.metrics) {
    const auto values = file.reals<double>("points/" + metric.name, H5Shape{n});
    for (std::size_t i = 0; i < points.size(); ++i) points[i].metrics.push_back(values[i]);
  }
  return points;
}

bool same_place(const SweepPoint& a, const SweepPoint& b, const std::vector<bool>& numeric) {
  if (a.seed != b.seed) return false;
  for (std::size_t k = 0; k < numeric.size(); ++k) {
    if (numeric[k] ? a.numbers[k] != b.numbers[k] : a.values[k] != b.values[k]) return false;
  }
  return true;
}

}  // namespace

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
  for (const SweepPoint& stored : stored_points(file, sweep)) {
    if (stored.status != "ok") continue;
    for (SweepPoint& point : sweep.points) {
      if (!same_place(stored, point, sweep.numeric)) continue;
      point.status = stored.status;
      point.metrics = stored.metrics;
    }
  }
}

void SweepFile::write(const Sweep& sweep) {
  H5Document document;
  record_.wall_time_s = earlier_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  add_run_record(document, record_);
  document.attribute("points_total", static_cast<std::int64_t>(sweep.points.size()));
  std::vector<const SweepPoint*> finished;
  for (const SweepPoint& point : sweep.points) {
    if (!point.status.empty()) finished.push_back(&point);
  }
  if (finished.empty()) return;
  const auto column = [&]<class T>(const std::string& name, const std::string& unit, const std::string& description,
                                   auto get, T /*kind*/) {
    std::vector<T> values;
    for (const SweepPoint* point : finished) values.push_back(get(*point));
    document.column("points/" + name, std::move(values), {unit, description, {"point"}});
  };
  for (std::size_t k = 0; k < sweep.keys.size(); ++k) {
    const ParamRow& row = *find_row(program_table(), sweep.keys[k]);
    if (sweep.numeric[k]) {
      column(
          row.key, row.unit == Unit::none ? "1" : std::string(unit_symbol(row.unit)), row.doc,
          [k](const SweepPoint& p) { return p.numbers[k]; }, 0.0);
    } else {
      column(
          row.key, "1", row.doc, [k](const SweepPoint& p) { return p.values[k]; }, std::string());
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
  document.attribute("mode", sweep.mode, "points");
  document.attribute("keys", fmt::format("{}", fmt::join(sweep.keys, ", ")), "points");
  document.write(files_.output, overwrite_);
  overwrite_ = Overwrite::replace;
}

}  // namespace nudge
