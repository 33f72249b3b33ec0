// SPDX-License-Identifier: Apache-2.0
#include "apps/info/study_card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/commands/text_lines.hpp"
#include "apps/report/run_file.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "training/sweep/point_cost.hpp"
#include "training/sweep/spread.hpp"

namespace nudge {
namespace {

/// Combination of values, with means over its runs.
struct StudyCardRow {
  std::vector<std::string> values;
  int runs = 0;
  std::array<double, 4> cost = {};
  double result = 0;
};

struct StudyCard {
  std::vector<std::string> keys;
  std::string result;  ///< name of the first result
  std::vector<StudyCardRow> rows;
};

StudyCard read_study_card(const std::filesystem::path& path) {
  const report::RunFile run = report::load_run_file(path);
  const report::Table& table = run.points;
  StudyCard card{table.keys, table.results.empty() ? "" : table.results.front(), {}};
  std::vector<std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < table.rows; ++i) {
    if (table.texts.at("status")[i] != "ok") continue;
    std::vector<std::string> values;
    for (const std::string& key : table.keys) values.push_back(table.text(key, i));
    const auto at =
        std::find_if(card.rows.begin(), card.rows.end(), [&](const auto& row) { return row.values == values; });
    members.resize(std::max(members.size(), card.rows.size() + 1));
    members[static_cast<std::size_t>(at - card.rows.begin())].push_back(i);
    if (at == card.rows.end()) card.rows.push_back({values});
  }
  const auto mean = [&](const std::string& column, const std::vector<std::size_t>& rows) {
    const auto at = table.numbers.find(column);
    std::vector<double> all;
    for (const std::size_t i : rows) {
      if (at != table.numbers.end()) all.push_back(at->second[i]);
    }
    return spread_of_finite(all).mean;
  };
  bool any = false;
  for (std::size_t r = 0; r < card.rows.size(); ++r) {
    StudyCardRow& row = card.rows[r];
    row.runs = static_cast<int>(members[r].size());
    row.result = mean(card.result, members[r]);
    for (std::size_t c = 0; c < row.cost.size(); ++c) {
      row.cost[c] = mean(cost_measures()[c].name, members[r]);
      any = any || std::isfinite(row.cost[c]);
    }
  }
  if (!any) {
    throw UserError(
        fmt::format("{}: no point carries a cost: its weights are digital, it trains nothing, or an earlier version "
                    "wrote it. Train a point on devices and give its file",
                    path.string()));
  }
  return card;
}

std::string cell_of(double value, Unit unit) { return std::isfinite(value) ? format_quantity(value, unit, 3) : "-"; }

}  // namespace

std::string study_card_text(const std::filesystem::path& path) {
  const StudyCard card = read_study_card(path);
  std::vector<std::vector<std::string>> rows(1, card.keys);
  for (const char* name : {"runs", "per inference", "per training step", "latency", "area"}) rows[0].emplace_back(name);
  if (!card.result.empty()) rows[0].push_back(card.result);
  for (const StudyCardRow& one : card.rows) {
    std::vector<std::string> row = one.values;
    row.push_back(std::to_string(one.runs));
    row.push_back(cell_of(one.cost[0], Unit::joule));
    row.push_back(cell_of(one.cost[1], Unit::joule));
    row.push_back(cell_of(one.cost[2], Unit::second));
    row.push_back(std::isfinite(one.cost[3]) ? fmt::format("{:.4g} um^2", 1e12 * one.cost[3]) : "-");
    if (!card.result.empty()) row.push_back(std::isfinite(one.result) ? fmt::format("{:.4g}", one.result) : "-");
    rows.push_back(std::move(row));
  }
  return text_table(rows, card.keys.size()) +
         "Means over the runs that ended well, of the parts that the cost card knows. A card with all parts, and what "
         "is "
         "left out: nudge train of the point, then nudge info --card\n";
}

nlohmann::json study_card_json(const std::filesystem::path& path) {
  const StudyCard card = read_study_card(path);
  nlohmann::json points = nlohmann::json::array();
  for (const StudyCardRow& one : card.rows) {
    nlohmann::json row = {{"runs", one.runs},
                          {"inference_energy_J", one.cost[0]},
                          {"step_energy_J", one.cost[1]},
                          {"latency_s", one.cost[2]},
                          {"area_m2", one.cost[3]}};
    for (std::size_t k = 0; k < card.keys.size(); ++k) row["values"][card.keys[k]] = one.values[k];
    if (!card.result.empty()) row[card.result] = one.result;
    points.push_back(std::move(row));
  }
  return {{"points", points}};
}

}  // namespace nudge
