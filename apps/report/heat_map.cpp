// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"
#include "training/sweep/spread.hpp"

namespace nudge::report {

namespace {

constexpr std::size_t most_values = 24;  // of either key: a wider table is no picture

/// Values of a key in the order in which the sweep lists them.
struct KeyValues {
  std::vector<std::string> names;
  std::vector<std::size_t> of_row;  ///< index in names, per row of the table
};

KeyValues values_of(const Table& points, const std::string& key) {
  KeyValues out;
  const auto real = points.numbers.find(key);
  for (std::size_t i = 0; i < points.rows; ++i) {
    const std::string text = real != points.numbers.end() ? number(real->second[i]) : points.texts.at(key)[i];
    const auto at = std::find(out.names.begin(), out.names.end(), text);
    out.of_row.push_back(static_cast<std::size_t>(at - out.names.begin()));
    if (at == out.names.end()) out.names.push_back(text);
  }
  return out;
}

}  // namespace

std::string heat_map(const Table& points) {
  if (points.keys.size() != 2 || points.scattered || points.one_at_a_time || points.results.empty()) return "";
  const std::string& result = points.results.front();
  const KeyValues rows = values_of(points, points.keys[0]), columns = values_of(points, points.keys[1]);
  const bool shown = std::min(rows.names.size(), columns.names.size()) > 1 &&
                     std::max(rows.names.size(), columns.names.size()) <= most_values;
  if (!shown) return "";
  std::vector<std::vector<double>> cells(rows.names.size() * columns.names.size());
  for (std::size_t i = 0; i < points.rows; ++i) {
    cells[rows.of_row[i] * columns.names.size() + columns.of_row[i]].push_back(points.numbers.at(result)[i]);
  }
  std::vector<double> means;
  std::vector<CellSpread> spreads;
  for (const auto& cell : cells) {
    spreads.push_back(cell_spread(cell, result));
    means.push_back(spreads.back().shown());
  }
  double best = std::nan(""), worst = std::nan("");
  const bool higher = higher_is_better(result);
  for (const double mean : means) {
    best = higher ? std::fmax(best, mean) : std::fmin(best, mean);
    worst = higher ? std::fmin(worst, mean) : std::fmax(worst, mean);
  }
  std::string out =
      fmt::format("<h3>{}: {} (rows) and {} (columns)</h3>\n<div class=\"scroll\"><table class=\"heat\">\n",
                  escape(points.label(result)), escape(points.keys[0]), escape(points.keys[1]));
  out += "<tr><th></th>";
  for (const auto& name : columns.names) out += "<th>" + escape(name) + "</th>";
  out += "</tr>\n";
  for (std::size_t r = 0; r < rows.names.size(); ++r) {
    out += "<tr><th>" + escape(rows.names[r]) + "</th>";
    for (std::size_t c = 0; c < columns.names.size(); ++c) {
      const CellSpread& spread = spreads[r * columns.names.size() + c];
      const double mean = spread.shown();
      const std::string failed = spread.failed > 0 ? ", " + failure_rate(spread) : "";
      if (!std::isfinite(mean)) {
        out += "<td class=\"none\">–" + failed + "</td>";
        continue;
      }
      const double loss = worst == best ? 0 : (mean - best) / (worst - best);
      out += fmt::format("<td style=\"background:color-mix(in srgb, var(--c1) {:.0f}%, transparent)\">{}</td>",
                         65 * loss, escape(result_text(points, result, mean) + failed));
    }
    out += "</tr>\n";
  }
  return out +
         "</table></div>\n<p class=\"note\">Means over the seeds; where a run failed, the median with the failed "
         "ranked worst; the darker, the "
         "worse. A dash: no such median, or no run.</p>\n";
}

}  // namespace nudge::report
