// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>

#include "sim/read_timing.hpp"

namespace nudge {

/// Forward drives the rows of an array (its inputs) and senses the columns; transposed the other way round, through the same
/// devices.
enum class ReadDirection { forward, transposed };

/// Of a read at its operating point, D = ∂out/∂drive: out = D v, or out = Dᵀ u.
enum class Derivative { jvp, vjp };

/// The way that a small signal takes through an array: derivatives of a product W are products with W or Wᵀ again.
inline ReadDirection way_of(ReadDirection read, Derivative derivative) {
  if (derivative == Derivative::jvp) return read;
  return read == ReadDirection::forward ? ReadDirection::transposed : ReadDirection::forward;
}

/// Whether an array may be driven at its rows and at its columns in one slot.
enum class Directions {
  sequential,    ///< one vector one way at a time
  simultaneous,  ///< both at once: every device carries G (x − g)
};

/// Largest values at the converters of all arrays, by the direction of the read.
struct ConverterExtents {
  std::array<double, 2> drive = {}, output = {};

  void merge(const ConverterExtents& other) {
    for (std::size_t way = 0; way < 2; ++way) {
      drive[way] = std::max(drive[way], other.drive[way]);
      output[way] = std::max(output[way], other.output[way]);
    }
  }
};

/// What arrays are used for in a sequence. How often each was read, in rows of a drive: an evaluation that reads an array k times a
/// row (either direction, the means of several reads, corrections, the patches of a convolution) takes k slots, or, driven both ways
/// at once, as many as the busier way; arrays work side by side, and the busiest sets the pace (docs/crossbars.md, "What an array does
/// in a slot"). And how far their converters, of those that are ranged by every read, had to reach.
class ArrayUse {
 public:
  void read(std::uint32_t array, Directions directions, ReadDirection way, ReadClass kind, double rows) {
    Reads& reads = of_[array];
    reads.directions = directions;
    reads.rows[static_cast<std::size_t>(kind)][static_cast<std::size_t>(way)] += rows;
  }
  void drove(ReadDirection way, double largest) {
    double& so_far = extents_.drive[static_cast<std::size_t>(way)];
    so_far = std::max(so_far, largest);
  }
  void sensed(ReadDirection way, double largest) {
    double& so_far = extents_.output[static_cast<std::size_t>(way)];
    so_far = std::max(so_far, largest);
  }
  void clear() {
    for (auto& [array, reads] : of_) reads.rows = {};
    extents_ = {};
  }

  /// Slots that one of so many evaluations of `rows` rows took: at least 1.
  double slots(ReadClass kind, double evaluations, double rows) const {
    double busiest = 0;
    for (const auto& [array, reads] : of_) {
      const auto& [forward, transposed] = reads.rows[static_cast<std::size_t>(kind)];
      const bool together = reads.directions == Directions::simultaneous;
      busiest = std::max(busiest, together ? std::max(forward, transposed) : forward + transposed);
    }
    return evaluations > 0 ? std::max(1.0, busiest / (evaluations * rows)) : 1.0;
  }
  const ConverterExtents& extents() const { return extents_; }

 private:
  struct Reads {
    Directions directions = Directions::sequential;
    std::array<std::array<double, 2>, read_classes> rows = {};  ///< by class and direction
  };
  std::unordered_map<std::uint32_t, Reads> of_;
  ConverterExtents extents_;
};

}  // namespace nudge
