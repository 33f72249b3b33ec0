// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Digital-to-analog or analog-to-digital converter between ±R with 2^bits − 1 levels, 0 among them:
///     q(x) = Δ round(clip(x, −R, R)/Δ),   Δ = 2R/(2^bits − 2)
/// range R > 0: a fixed full scale. range 0: ranged by every read, R = max|x| of every row (one drive or read-out of the
/// array); this takes a programmable gain in front of the converter that knows the row before it is converted. bits 0: no
/// rounding; the range, if any, still clips. bits 1: a comparator, R/2 for x ≥ 0 and −R/2 below, the middles of two halves of
/// ±R; −R, 0, R take two bits. Not modelled: offset and gain error, integral nonlinearity, settling.
struct ConverterSpec {
  int bits = 0;
  double range = 0;

  bool ideal() const { return bits == 0 && range == 0; }
  bool converts() const { return bits > 0; }              ///< true if it costs the energy of a conversion
  bool ranges() const { return bits > 0 && range == 0; }  ///< true if it is ranged by every read
  /// Throws UserError naming `key` when bits is negative or above 24, or the range is negative or not finite.
  void validate(const std::string& key) const;
};

/// Rounds x ← q(x), row by row; returns the number of values beyond the range. A value that is not finite stays so.
template <class S>
std::uint64_t convert(const ConverterSpec& spec, MatrixRef<S> x);

}  // namespace nudge
