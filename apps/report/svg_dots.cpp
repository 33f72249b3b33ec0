// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "apps/report/page_text.hpp"
#include "apps/report/svg_chart.hpp"

namespace nudge::report {

namespace {

constexpr double width = 480, right = 466, top = 8;

/// Width of the row names: about 7 pixels per character.
double name_width(const std::vector<std::string>& rows) {
  std::size_t longest = 4;
  for (const auto& row : rows) longest = std::max(longest, row.size());
  return std::min(270.0, 12 + 7.2 * static_cast<double>(longest));
}

/// Draws the dots of one row. middle: y of the row in pixels; spacing: between its series.
std::string row_of_dots(const DotPlot& plot, const Axis& x, std::size_t row, double middle, double spacing) {
  std::string out;
  for (std::size_t k = 0; k < plot.series.size(); ++k) {
    const DotSeries& s = plot.series[k];
    const double y = middle + spacing * (static_cast<double>(k) - 0.5 * static_cast<double>(plot.series.size() - 1));
    if (row >= s.value.size() || !x.shows(s.value[row])) continue;
    const bool range = row < s.low.size() && row < s.high.size() && x.shows(s.low[row]) && x.shows(s.high[row]);
    if (range)
      out += line(fmt::format("whisker s{}", s.color % palette_size), x.pixel(s.low[row]), y, x.pixel(s.high[row]), y);
    out += marker(s.color, x.pixel(s.value[row]), y);
  }
  return out;
}

}  // namespace

std::string dot_figure(const DotPlot& plot) {
  std::vector<double> values;
  std::vector<LegendEntry> entries;
  for (const auto& s : plot.series) {
    for (const auto* part : {&s.value, &s.low, &s.high}) values.insert(values.end(), part->begin(), part->end());
    entries.push_back({s.label, s.color, false, true, false});
  }
  if (plot.zero_line) values.push_back(0);
  const double left = name_width(plot.rows);
  const Axis x(plot.x_scale, values, left + 8, right - 8, 0.03, 5);
  if (x.empty() || plot.rows.empty()) {
    return figure(plot.title, "", width, 60, label("name", 0.5 * width, 34, "middle", "no finite values to show"),
                  plot.note, "");
  }
  const double spacing = 9, row_height = std::max(24.0, spacing * static_cast<double>(plot.series.size()) + 10);
  const double bottom = top + row_height * static_cast<double>(plot.rows.size());
  std::string drawing;
  for (const auto& tick : x.ticks()) {
    drawing += line("grid", x.pixel(tick.at), top, x.pixel(tick.at), bottom) +
               label("tick", x.pixel(tick.at), bottom + 16, "middle", tick.label);
  }
  if (plot.zero_line) drawing += line("axis", x.pixel(0), top, x.pixel(0), bottom);
  if (x.has_gap()) drawing += line("gap", x.gap_pixel(), top, x.gap_pixel(), bottom);
  for (std::size_t row = 0; row < plot.rows.size(); ++row) {
    const double middle = top + row_height * (static_cast<double>(row) + 0.5);
    drawing += label("row", left - 4, middle + 4, "end", plot.rows[row]);
    if (row > 0) drawing += line("rule", 0, middle - 0.5 * row_height, right, middle - 0.5 * row_height);
    drawing += row_of_dots(plot, x, row, middle, spacing) + "\n";
  }
  // Under the middle of the frame; a long one is moved so that it ends with the drawing.
  const double half = 0.5 * 7.2 * static_cast<double>(plot.x_label.size());
  drawing += label("name", std::max(std::min(0.5 * (left + right), width - half), 0.5 * width), bottom + 36, "middle",
                   plot.x_label);
  return figure(plot.title, legend(entries), width, bottom + 44, drawing, plot.note, figure_csv(plot));
}

}  // namespace nudge::report
