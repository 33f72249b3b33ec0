// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Which ends of a wire are connected.
enum class LineEnds { one, both };

/// Wires of a crossbar of N rows and M columns. Device (i, j) joins row wire i and column wire j; neighbouring devices on
/// a wire are `row_ohm` or `column_ohm` apart, and the segment from a connected end to the first device has the same
/// resistance plus that of the driver (rows, held at v_i) or of the sense amplifier (columns, held at 0 V). One end: rows
/// are driven at j = 0 and columns sensed at i = N − 1. Typical metal: 0.15–0.35 ohm per cell relaxed, 1–5 ohm at 50–22 nm.
struct WireSpec {
  double row_ohm = 0;
  double column_ohm = 0;
  double driver_ohm = 0;
  double sense_ohm = 0;
  LineEnds rows_driven = LineEnds::one;
  LineEnds columns_sensed = LineEnds::one;

  /// UserError naming the field when a resistance is negative or not finite, or when a wire is ideal (0) but its driver or
  /// sense resistance is not.
  void validate() const;
};

/// How much of the signal the wires eat: (2/3) R·G·N·M with the mean resistance per cell of both wires and the mean
/// conductance. For uniform arrays driven and sensed at one end the mean output over the ideal one is near 1/(1 + figure):
/// 0.88, 0.65, 0.31 against 0.875, 0.651, 0.335 measured at 64, 128, 256 (1–100 uS, 1 ohm); the factor is fitted to these.
double ir_drop_figure(const WireSpec& spec, const Matrix<double>& conductance_S);

/// A sentence of warning with what to do, empty below a figure of 0.5 (a third of the signal lost).
std::string ir_drop_warning(const WireSpec& spec, const Matrix<double>& conductance_S);

/// Result of a solve for one vector of row voltages.
struct WireSolution {
  Matrix<double> currents_A;  ///< (1, M), into the sense amplifiers
  int iterations = 0;
  double residual = 0;  ///< relative residual of the column equations
  bool converged = true;
};

}  // namespace nudge
