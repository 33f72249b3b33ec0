// SPDX-License-Identifier: Apache-2.0
// A matrix as a picture: cells in one of 16 shades, all cells of a shade in one path, so that thousands of them stay small.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/report/page_text.hpp"
#include "apps/report/svg_chart.hpp"

namespace nudge::report {

namespace {

constexpr double width = 480, left = 10, right = 466, top = 8;
constexpr Index most_rows = 48, most_columns = 96;  // beyond, neighbouring cells are averaged
constexpr int shades = 16;

/// Mean of the finite values of the block of rows [r0, r1) and columns [c0, c1); NaN without one.
double block_mean(const Matrix<double>& values, Index r0, Index r1, Index c0, Index c1) {
  double sum = 0;
  int n = 0;
  for (Index r = r0; r < r1; ++r) {
    for (Index c = c0; c < c1; ++c) {
      if (!std::isfinite(values(r, c))) continue;
      sum += values(r, c);
      ++n;
    }
  }
  return n > 0 ? sum / n : std::nan("");
}

Matrix<double> reduced(const Matrix<double>& values) {
  const Index rows = std::min(values.rows(), most_rows), columns = std::min(values.cols(), most_columns);
  Matrix<double> out(rows, columns);
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < columns; ++c) {
      out(r, c) = block_mean(values, r * values.rows() / rows, (r + 1) * values.rows() / rows,
                             c * values.cols() / columns, (c + 1) * values.cols() / columns);
    }
  }
  return out;
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
  double low = std::nan(""), high = low;
  for (Index i = 0; i < cells.size(); ++i) {
    if (!std::isfinite(cells.data()[i])) continue;
    low = std::fmin(low, cells.data()[i]);
    high = std::fmax(high, cells.data()[i]);
  }
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
