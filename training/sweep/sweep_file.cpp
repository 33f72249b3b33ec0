// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/sweep_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/base/parallel.hpp"
#include "training/config/run_options.hpp"
#include "training/config/stored_config.hpp"
#include "training/data/scores_json.hpp"

namespace nudge {

SweepFile::SweepFile(const SweepFiles& files, const Config& base, const std::string& kind)
    : files_(files), kind_(kind), overwrite_(files.resume ? Overwrite::replace : Overwrite::must_not_exist) {
  record_ = record_of(kind, base);
}

void SweepFile::expect_same_config(const H5Reader& file, const SweepGrid& grid) const {
  if (file.text_attribute("kind") == kind_) {
    const std::string keys = fmt::format("{}", fmt::join(grid.sweep.keys, ", "));
    const std::string stored = file.text_attribute("keys", file.has("points") ? "points" : plan_group("points"));
    if (stored != keys) {
      file.fail("attribute keys", fmt::format("the file sweeps {}, the config {}. Only seeds and values of the axes "
                                              "may change: start a new {} with --out",
                                              stored, keys, kind_));
    }
  }
  expect_stored_config(file, kind_, grid.base, [this](const std::string& key) {
    if (key.starts_with("spec.")) return true;
    return key.starts_with("sweep.") && (kind_ != "sweep" || (key != "sweep.run" && key != "sweep.test"));
  });
}

void SweepFile::restore(Stored kept, SweepGrid& grid) {
  const H5Reader file(files_.output);
  expect_same_config(file, grid);
  record_.started = file.text_attribute("started");
  earlier_ = file.real_attribute("wall_time_s");
  take_stored_points(file, "points", kept, grid.sweep);
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
  record_.wall_time_s = earlier_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  document(sweep).write(files_.output, overwrite_);
  overwrite_ = Overwrite::replace;
}

nlohmann::json json_of(const CellSpread& cell) {
  return {{"mean", cell.mean},
          {"deviation", cell.deviation},
          {"median", cell.median},
          {"runs", cell.runs},
          {"failed", cell.failed}};
}

nlohmann::json values_json(const Sweep& sweep, const SweepPoint& point) {
  nlohmann::json out = nlohmann::json::object();
  for (std::size_t k = 0; k < sweep.keys.size(); ++k) {
    out[sweep.keys[k]] = sweep.numeric[k] ? nlohmann::json(point.numbers[k]) : nlohmann::json(point.values[k]);
  }
  return out;
}

nlohmann::json json_of(const Sweep& sweep, const SweepPoint& point) {
  nlohmann::json out = values_json(sweep, point);
  out["seed"] = point.seed;
  out["status"] = point.status;
  out["seconds"] = point.seconds;
  for (std::size_t m = 0; m < sweep.metrics.size(); ++m) out[sweep.metrics[m].name] = point.metrics[m];
  for (const GroupCosine& group : point.groups) out["group_cosines"][group.group] = group.cosine;
  return out;
}

nlohmann::json event_json(const Sweep& sweep, const SweepPoint& point, std::size_t done) {
  nlohmann::json out = json_of(sweep, point);
  out["event"] = "point";
  out["done"] = done;
  out["total"] = sweep.count_own();
  return out;
}

nlohmann::json points_json(const Sweep& sweep) {
  nlohmann::json points = nlohmann::json::array();
  for (const SweepPoint& point : sweep.points) {
    if (!point.status.empty()) points.push_back(json_of(sweep, point));
  }
  return points;
}

std::string first_failure(const std::vector<const Sweep*>& tables) {
  for (const Sweep* table : tables) {
    const bool trains = std::any_of(table->metrics.begin(), table->metrics.end(),
                                    [](const Measure& metric) { return metric.name == "validation_loss"; });
    for (const SweepPoint& point : table->points) {
      if (point.status.empty() || point.status == "ok" || point.invalid()) continue;
      return fmt::format("; the first: {} (what may help: {})", point.status,
                         trains ? "a smaller train.learning_rate; nudge train of this point says more"
                                : "more relaxation.free_steps, or a smaller relaxation.step");
    }
  }
  return "";
}

std::string sweep_failure(const Sweep& sweep) {
  const std::string first = sweep.count_ok() > 0 || sweep.interrupted ? "" : first_failure({&sweep});
  return first.empty() ? "" : "no point of the sweep ended well" + first;
}

nlohmann::json json_of(const Sweep& sweep) {
  nlohmann::json summary = nlohmann::json::array();
  for (const SweepCell& cell : summarise_sweep(sweep)) {
    nlohmann::json one = {{"runs", cell.runs}, {"failed", cell.failed}};
    if (!cell.invalid.empty()) one["invalid"] = cell.invalid;
    for (std::size_t k = 0; k < sweep.keys.size(); ++k) one[sweep.keys[k]] = cell.values[k];
    for (std::size_t m = 0; m < sweep.metrics.size(); ++m) one[sweep.metrics[m].name] = json_of(cell.results[m]);
    summary.push_back(std::move(one));
  }
  return {{"keys", sweep.keys},
          {"points", points_json(sweep)},
          {"summary", summary},
          {"ok", sweep.count_ok()},
          {"failure", sweep_failure(sweep)},
          {"interrupted", sweep.interrupted},
          {"outside", sweep.outside.size()},
          {"text", json_of(sweep.lines)},
          {"reference", json_of(sweep.references)}};
}

}  // namespace nudge
