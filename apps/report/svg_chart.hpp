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
  /// Covers the values up to ±10³⁰⁰ (positive ones only when logarithmic) between the pixels; `margin` is the share of
  /// the pixel range left free at both ends; `ticks` is the approximate number of marks.
  Axis(Scale scale, const std::vector<double>& values, double pixel_begin, double pixel_end, double margin, int ticks);

  /// Makes an axis of names at 0, 1, 2, ...
  Axis(const std::vector<std::string>& names, double pixel_begin, double pixel_end);

  bool empty() const { return empty_; }  ///< true if no value can be shown
  bool shows(double value) const;    ///< true for values up to ±10³⁰⁰, positive (or the shown 0) when logarithmic
  double pixel(double value) const;  ///< pixel of a value, clamped to 10⁴ pixels; needs shows(value)
  const std::vector<Tick>& ticks() const { return ticks_; }
  bool has_gap() const { return zero_; }
  double gap_pixel() const { return gap_; }  ///< middle of the gap between 0 and the smallest value

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

/// True if positive values span at least two decades, so that a logarithmic axis serves them better.
bool spans_decades(const std::vector<double>& values);

/// Curve of a chart. Points whose x or y is not finite (or not positive on a logarithmic axis) are gaps. low and high,
/// empty or as long as y, are drawn as a band behind a line, else as whiskers through the markers.
struct Series {
  std::string label;  ///< label in the legend; empty: not listed
  std::vector<double> x, y, low, high;
  int color = 0;  ///< place in the palette
  bool line = true, markers = false, dashed = false, thin = false;
};

struct Chart {
  std::string title = {};  ///< title above the chart
  std::string note = {};   ///< one sentence below: what to see in it
  std::string x_label = {}, y_label = {};
  Scale x_scale = Scale::linear, y_scale = Scale::linear;
  std::vector<std::string> x_names = {};  ///< names that x counts; empty: x is a number
  std::vector<Series> series = {};
  bool clip_outliers = false;  ///< keep single huge values from flattening a linear chart: they leave through the top
};

/// Makes a figure element: title, legend, inline SVG that scales with its column, note. Colours are CSS variables --c0
/// ... --c7. Without a single value that can be shown it says so instead of drawing.
std::string chart_figure(const Chart& chart);

/// Series of a dot plot: one value per name, with an optional range.
struct DotSeries {
  std::string label;
  std::vector<double> value, low, high;  ///< values per row; NaN: nothing
  int color = 0;
  std::vector<bool> hollow = {};  ///< rows whose dot is an outline: not told from 0; none: all dots are filled

  void add(double mean, double lowest, double highest, bool open) {
    value.push_back(mean);
    low.push_back(lowest);
    high.push_back(highest);
    hollow.push_back(open);
  }
};

/// Dot plot: rows of names with dots, to compare many series at a glance.
struct DotPlot {
  std::string title = {}, note = {}, x_label = {};
  Scale x_scale = Scale::linear;
  bool zero_line = false;  ///< for differences: the axis shows 0 with a line
  std::vector<std::string> rows = {};
  std::vector<DotSeries> series = {};
};

std::string dot_figure(const DotPlot& plot);

/// Matrix as a picture, rows downwards, with the bar of its shades below: light is the smallest, dark the largest
/// finite value. Large matrices are averaged to 48 × 96.
struct Raster {
  std::string title, note, x_label;
  Matrix<double> values;
  std::string bar_label = {};  ///< meaning of the shades, with its unit
};

std::string raster_figure(const Raster& raster);

/// Number of colours in the palette; a series beyond them repeats a colour with another marker and a dashed line.
constexpr int palette_size = 8;

/// Draws the marker of a series at a pixel: circle, square, diamond or triangle by its number, so that colour is not
/// the only sign. hollow: an outline alone.
std::string marker(int series, double x, double y, bool hollow = false);

/// Draws a straight line of a CSS class.
std::string line(const std::string& css, double x1, double y1, double x2, double y2);

/// Draws a text of a CSS class; anchor is start, middle or end.
std::string label(const std::string& css, double x, double y, const std::string& anchor, const std::string& text);

struct LegendEntry {
  std::string label;
  int color = 0;
  bool line = true, markers = true, dashed = false;
};

/// Makes a legend that wraps, with the same line and marker as the chart; empty for fewer than two entries. Parts that
/// all labels have in common are written once, before them; ", " and ": " separate parts.
std::string legend(const std::vector<LegendEntry>& entries);

/// Makes the figure around an SVG drawing of the given size and escapes the note for HTML. `csv`: the numbers of the
/// drawing, folded away below it; empty: none.
std::string figure(const std::string& title, const std::string& legend, double width, double height,
                   const std::string& drawing, const std::string& note, const std::string& csv);

/// Writes the numbers of a chart as CSV: a row per x, a column per labelled series, behind it `low` and `high` where it
/// has them. Six digits; empty cells where a series has no value. Names are quoted where RFC 4180 asks for it.
std::string figure_csv(const Chart& chart);

/// Writes the numbers of a dot plot as CSV: a row per name.
std::string figure_csv(const DotPlot& plot);

/// Returns the script of the buttons that save a figure as SVG, in its colours of the moment, and its numbers as CSV.
/// Nothing is fetched; without scripts the page lacks the buttons only.
std::string download_script();

}  // namespace nudge::report
