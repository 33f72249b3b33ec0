// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <vector>

#include "devices/fit/iv_sweep.hpp"

namespace nudge {

/// Rows of one way: |V|, the current along it, and ln(I/V), which is NaN where noise has turned the current. Rows at the
/// instrument's limit stay: the device conducts at least as well as they say.
struct IvWay {
  std::vector<double> volts, amps, log_S;
  std::vector<bool> limited;
  double limited_V = 0;  ///< first voltage at the instrument's limit; 0: none
  void add(double v, double i, const IvLimits& limits);
  std::size_t free_rows() const;  ///< rows that are not limited
};

/// Both ways of a lobe.
struct IvTrip {
  IvWay out, back;
  double peak_V = 0;
};

/// ln(sinh(√z)/√z), z = (V/V0)²; its tangent for z < 0.
double log_sinhc(double z);

/// Parts of a sweep on one side of 0 V, of four rows and two that are not limited each way.
std::vector<IvTrip> trips_of(const IvSweep& sweep, const IvLimits& limits);

/// Noise of the current: median of the second differences of rows below a voltage; 0: fewer than five of them. White noise of
/// standard deviation σ has 0.6745 √6 σ = 1.65 σ.
double noise_A(const IvWay& way, double below_V);

/// Voltage at which ln(I/V) changes most from row to row, of currents above their noise; the first at the instrument's limit, which
/// hides the change.
double steepest_V(const IvTrip& trip);

/// Small-signal conductance of a way, from the rows below a voltage.
struct IvLevel {
  double value_S = std::numeric_limits<double>::quiet_NaN();  ///< of a hidden one the most that it may be
  bool hidden = false;
};

/// Slope of I over s = V sinh(√c V)/(√c V). Its error belongs to a line with an intercept: rectified noise is an intercept without a slope.
IvLevel level_of(const IvWay& way, double below_V, double c, double digit_A);

/// Curvature over all ways, weighted by their errors; the interval is open below where it holds 0.
IvNumber curvature_of(const std::vector<IvTrip>& trips);

}  // namespace nudge
