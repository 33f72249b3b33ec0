// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/report/axis.hpp"
#include "sim/base/matrix.hpp"

namespace nudge::report {

/// One curve. Places where x, y is not finite (or not positive on a logarithmic axis) are gaps. low and high, empty or
/// as long as y, are drawn as a band behind a line, else as whiskers through the markers.
struct Series {
  std::string label;  ///< in the legend; empty: not listed
  std::vector<double> x, y, low, high;
  int color = 0;  ///< place in the palette
  bool line = true, markers = false, dashed = false, thin = false;
};

struct Chart {
  std::string title;  ///< above the chart
  std::string note;   ///< one sentence below: what to see in it
  std::string x_label, y_label;
  Scale x_scale = Scale::linear, y_scale = Scale::linear;
  std::vector<std::string> x_names;  ///< when set, x counts these names
  std::vector<Series> series;
  bool clip_outliers = false;  ///< keep single huge values from flattening a linear chart: they leave through the top
};

/// A figure element: title, legend, inline SVG that scales with its column, note. Colours are CSS variables --c0 ... --c7.
/// Without a single value that can be shown it says so instead of drawing.
std::string chart_figure(const Chart& chart);

/// One value per name and series, with an optional range.
struct DotSeries {
  std::string label;
  std::vector<double> value, low, high;  ///< per row; NaN: nothing
  int color = 0;
};

/// Rows of names with dots: compares many series at a glance.
struct DotPlot {
  std::string title, note, x_label;
  Scale x_scale = Scale::linear;
  bool zero_line = false;  ///< differences: the axis shows 0 and a line stands there
  std::vector<std::string> rows;
  std::vector<DotSeries> series;
};

std::string dot_figure(const DotPlot& plot);

/// A matrix as a picture, rows downwards, with the bar of its shades below: light is the smallest, dark the largest finite value.
/// Large ones are averaged to 48 × 96.
struct Raster {
  std::string title, note, x_label;
  Matrix<double> values;
  std::string bar_label = {};  ///< what the shades mean, with its unit
};

std::string raster_figure(const Raster& raster);

}  // namespace nudge::report
