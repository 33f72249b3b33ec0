// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "circuits/crossbar/converter_table.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Digital-to-analog or analog-to-digital converter between ±R with 2^bits − 1 levels, 0 among them:
///     q(x) = Δ round(clip(x, −R, R)/Δ),   Δ = 2R/(2^bits − 2)
/// range R > 0: a fixed full scale. range 0: ranged by every read, R = max|x| of every row (one drive or read-out of the
/// array). This takes a programmable gain in front of the converter, which knows the row before its conversion. bits 0: no
/// rounding; the range, if any, still clips. bits 1: a comparator, R/2 for x ≥ 0 and −R/2 below, the middles of two halves of
/// ±R; −R, 0, R take two bits. A table shifts edges (of an ADC) or levels (of a DAC) by the measured INL, the same in every line. Not
/// modelled: offset and gain error, settling.
struct ConverterSpec {
  int bits = 0;
  double range = 0;
  std::string inl = {};                              ///< file of its INL; empty: ideal edges and levels
  std::shared_ptr<const ConverterTable> table = {};  ///< what load() has read of it

  bool ideal() const { return bits == 0 && range == 0; }
  bool converts() const { return bits > 0; }              ///< true if it costs the energy of a conversion
  bool ranges() const { return bits > 0 && range == 0; }  ///< true if it is ranged by every read
  /// Reads the file of the table, if one is named. UserError naming file, line and rule.
  void load(Conversion conversion, const std::string& key);
  /// Throws UserError naming `key` when bits is negative or above 24, or the range is negative or not finite.
  void validate(const std::string& key) const;
};

/// Rounds x ← q(x), row by row, by the edges of the table if there is one; returns the number of values beyond the range. A
/// value that is not finite stays so. A spec of 0 bits that has a table, as noise_free() makes it, puts the table's mean curve.
template <class S>
std::uint64_t convert(const ConverterSpec& spec, MatrixRef<S> x);

/// Rounds what drives an array: the numbers that the digital side knows, without the errors of the levels.
template <class S>
std::uint64_t round_drive(const ConverterSpec& spec, MatrixRef<S> x);
/// Replaces the numbers of round_drive() by the levels of the table, if there is one.
template <class S>
void set_levels(const ConverterSpec& spec, MatrixRef<S> x);

/// Clips x to ±R and replaces it by the mean curve of the table, if there are a range and a table, slope ← slope ∘ its slope, 0 beyond
/// the range. Rounding has no derivative and is left out.
template <class S>
void convert_with_slope(const ConverterSpec& spec, Matrix<S>& x, Matrix<S>& slope);

}  // namespace nudge
