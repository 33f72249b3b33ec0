// SPDX-License-Identifier: Apache-2.0
// Dot plots, and pictures of matrices.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/report/page_text.hpp"
#include "apps/report/svg_chart.hpp"

namespace nudge::report {
namespace {

constexpr double width = 480, right = 466, top = 8;  // of a drawing, in its own pixels

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
    out += marker(s.color, x.pixel(s.value[row]), y, row < s.hollow.size() && s.hollow[row]);
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

namespace {

// A matrix as a picture: all cells of a shade in one path, so that thousands of them stay small.

constexpr double left = 10;
constexpr Index most_rows = 48, most_columns = 96;  // beyond, neighbouring cells are averaged
constexpr int shades = 16;

FiniteRange range_of(const Matrix<double>& values) {
  return finite_range({values.data(), static_cast<std::size_t>(values.size())});
}

/// Means of the finite values of blocks of the matrix, at most 48 × 96; NaN of a block without one.
Matrix<double> reduced(const Matrix<double>& values) {
  const Index rows = std::min(values.rows(), most_rows), columns = std::min(values.cols(), most_columns);
  return Matrix<double>::NullaryExpr(rows, columns, [&](Index r, Index c) {
    const Index row = r * values.rows() / rows, column = c * values.cols() / columns;
    const Index height = (r + 1) * values.rows() / rows - row, breadth = (c + 1) * values.cols() / columns - column;
    return range_of(values.block(row, column, height, breadth)).mean;
  });
}

std::string shaded(int shade, const std::string& path) {
  return fmt::format("<path class=\"f0\" opacity=\"{:.2f}\" d=\"{}\"/>",
                     0.05 + 0.95 * static_cast<double>(shade) / shades, path);
}

/// Draws all shades in a row, lightest first, between the values that they stand for.
std::string color_bar(double y, double low, double high, const std::string& what) {
  constexpr double begin = 110, end = 366, height = 10;  // room for a number of either side
  const double cell = (end - begin) / (shades + 1);
  std::string out = "<g class=\"bar\">";
  for (int s = 0; s <= shades; ++s) {
    out += shaded(s, fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.1f}h-{:.1f}z", begin + s * cell, y, cell, height, cell));
  }
  out += "</g>" + label("tick", begin - 6, y + 9, "end", number(low)) +
         label("tick", end + 6, y + 9, "start", number(high));
  return what.empty() ? out : out + label("name", 0.5 * (begin + end), y + 26, "middle", what);
}

}  // namespace

std::string raster_figure(const Raster& raster) {
  const Matrix<double> cells = reduced(raster.values);
  const auto [mean, low, high] = range_of(cells);
  if (!std::isfinite(low)) {
    return figure(raster.title, "", width, 60, label("name", 0.5 * width, 34, "middle", "no finite values to show"),
                  raster.note, "");
  }
  const double cell_width = (right - left) / static_cast<double>(cells.cols());
  const double cell_height = std::clamp(240.0 / static_cast<double>(cells.rows()), 4.0, 20.0);
  std::array<std::string, shades + 1> paths;
  for (Index r = 0; r < cells.rows(); ++r) {
    for (Index c = 0; c < cells.cols(); ++c) {
      const double v = cells(r, c);
      if (!std::isfinite(v)) continue;
      const double share = high > low ? (0.5 * v - 0.5 * low) / (0.5 * high - 0.5 * low) : 0.5;  // never overflows
      paths[static_cast<std::size_t>(std::lround(share * shades))] +=
          fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.1f}h-{:.1f}z", left + static_cast<double>(c) * cell_width,
                      top + static_cast<double>(r) * cell_height, cell_width, cell_height, cell_width);
    }
  }
  std::string drawing;
  for (std::size_t s = 0; s < paths.size(); ++s) {
    if (!paths[s].empty()) drawing += shaded(static_cast<int>(s), paths[s]);
  }
  const double bottom = top + cell_height * static_cast<double>(cells.rows());
  drawing += label("name", 0.5 * (left + right), bottom + 18, "middle", raster.x_label) +
             color_bar(bottom + 28, low, high, raster.bar_label);
  return figure(raster.title, "", width, bottom + (raster.bar_label.empty() ? 48 : 64), drawing, raster.note, "");
}

}  // namespace nudge::report
