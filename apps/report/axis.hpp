// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

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

}  // namespace nudge::report
