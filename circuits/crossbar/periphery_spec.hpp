// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/crossbar/converter.hpp"

namespace nudge {

/// What stands between the lines that are sensed and the circuit that uses the numbers, in one direction.
struct ReadoutSpec {
  ConverterSpec adc = {};
};

/// The circuits at the edges of an array.
struct PeripherySpec {
  ConverterSpec dac = {};       ///< drives the lines, rows and columns alike
  ReadoutSpec forward = {};     ///< of the columns
  ReadoutSpec transposed = {};  ///< of the rows

  /// Throws UserError naming the field, its value and the rule.
  void validate() const;
};

}  // namespace nudge
