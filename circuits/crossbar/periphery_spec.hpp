// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/array_use.hpp"
#include "circuits/crossbar/amplifier.hpp"
#include "circuits/crossbar/converter.hpp"

namespace nudge {

/// The circuits between the numbers and the lines in one direction: what drives, what senses.
struct PortSpec {
  ConverterSpec dac = {};
  AmplifierSpec amplifier = {};
  ConverterSpec adc = {};

  bool ideal() const { return dac.ideal() && amplifier.ideal() && adc.ideal(); }
};

/// Which line ends a transposed read uses.
enum class TransposedPath {
  same_ends,      ///< drives where columns are sensed, senses where rows are driven: the exact transpose (reciprocity)
  opposite_ends,  ///< the far ends of all wires: not the transpose when wires have resistance
};

/// The circuits at the edges of an array.
struct PeripherySpec {
  PortSpec forward = {};     ///< drives rows, senses columns
  PortSpec transposed = {};  ///< drives columns, senses rows
  TransposedPath path = TransposedPath::same_ends;
  bool ranged_once = false;  ///< converters without a range get theirs from the first batch of a run (chosen_circuit())
  Directions directions = Directions::sequential;
  bool trim_follows = false;
  double load_trim = 0;  ///< of simultaneous drives: standard deviation of what takes off a line's load, over that load

  /// Throws UserError naming the field, its value and the rule.
  void validate() const;
};

}  // namespace nudge
