// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge::report {

enum class Scale { linear, logarithmic };

struct Tick {
  double at = 0;
  std::string label;
};

/// Maps values to pixels and chooses round tick marks. A logarithmic axis can show the value 0 as well: it then has a
/// place of its own below the smallest positive value, beyond a gap.
class Axis {
 public:
  /// Covers the values up to ±10³⁰⁰ (positive ones only when logarithmic) between the pixels; `margin` is the share of the
  /// pixel range left free at both ends; `ticks` is about how many marks to set.
  Axis(Scale scale, const std::vector<double>& values, double pixel_begin, double pixel_end, double margin, int ticks);

  /// An axis of names at 0, 1, 2, ...
  Axis(const std::vector<std::string>& names, double pixel_begin, double pixel_end);

  bool empty() const { return empty_; }  ///< no value can be shown
  bool shows(double value) const;        ///< up to ±10³⁰⁰, positive (or the shown 0) when logarithmic
  double pixel(double value) const;      ///< clamped to 10⁴ pixels; needs shows(value)
  const std::vector<Tick>& ticks() const { return ticks_; }
  bool has_gap() const { return zero_; }
  double gap_pixel() const { return gap_; }  ///< the middle of the gap between 0 and the smallest value

 private:
  double position(double value) const;  // value or its logarithm
  void set_linear_ticks(int wanted);
  void set_log_ticks(int wanted);

  Scale scale_ = Scale::linear;
  double low_ = 0, high_ = 1;  // in position() units, at the pixels begin_ and end_
  double begin_ = 0, end_ = 1, zero_pixel_ = 0, gap_ = 0;
  bool zero_ = false, empty_ = false;
  std::vector<Tick> ticks_;
};

/// Whether positive values span at least two decades, so that a logarithmic axis serves them better.
bool spans_decades(const std::vector<double>& values);

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

/// The palette has eight colours; a series beyond them repeats a colour with another marker and a dashed line.
constexpr int palette_size = 8;

/// Marker of a series at a pixel: circle, square, diamond or triangle by its place, so that colour is not the only sign.
std::string marker(int series, double x, double y);

/// Straight line of a CSS class.
std::string line(const std::string& css, double x1, double y1, double x2, double y2);

/// Text of a CSS class; anchor is start, middle or end.
std::string label(const std::string& css, double x, double y, const std::string& anchor, const std::string& text);

struct LegendEntry {
  std::string label;
  int color = 0;
  bool line = true, markers = true, dashed = false;
};

/// Legend that wraps, with the same line and marker as the chart; nothing for fewer than two entries. What all labels have in common is said
/// once, before them: parts are separated by ", " or ": ".
std::string legend(const std::vector<LegendEntry>& entries);

/// The figure around an SVG drawing of the given size; the note is HTML-escaped here. `csv`: the numbers of the drawing, folded
/// away below it; empty: none.
std::string figure(const std::string& title, const std::string& legend, double width, double height,
                   const std::string& drawing, const std::string& note, const std::string& csv);

/// The numbers of a chart as CSV: a row per x, a column per labelled series, behind it `low` and `high` where it has them. Six
/// digits; empty cells where a series has no value. Names are quoted where RFC 4180 asks for it.
std::string figure_csv(const Chart& chart);

/// The numbers of a dot plot as CSV: a row per name.
std::string figure_csv(const DotPlot& plot);

/// The script behind the buttons that save a figure as SVG, in its colours of the moment, and its numbers as CSV.
/// Nothing is fetched; without scripts the page lacks the buttons only.
std::string download_script();

}  // namespace nudge::report
