// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/sweep_json.hpp"

#include "training/data/scores_json.hpp"
#include "training/sweep/point_table.hpp"

namespace nudge {

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

nlohmann::json json_of(const Sweep& sweep) {
  nlohmann::json summary = nlohmann::json::array();
  for (const SweepCell& cell : summarise_sweep(sweep)) {
    nlohmann::json one = {{"runs", cell.runs}, {"failed", cell.failed}};
    if (!cell.invalid.empty()) one["invalid"] = cell.invalid;
    for (std::size_t k = 0; k < sweep.keys.size(); ++k) one[sweep.keys[k]] = cell.values[k];
    for (std::size_t m = 0; m < sweep.metrics.size(); ++m) one[sweep.metrics[m].name] = json_of(cell.results[m]);
    summary.push_back(std::move(one));
  }
  return {{"keys", sweep.keys},           {"points", points_json(sweep)},          {"summary", summary},
          {"ok", sweep.count_ok()},       {"interrupted", sweep.interrupted},      {"outside", sweep.outside.size()},
          {"text", json_of(sweep.lines)}, {"reference", json_of(sweep.references)}};
}

}  // namespace nudge
