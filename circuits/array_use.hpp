// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>

#include "sim/read_timing.hpp"

namespace nudge {

/// Direction of a read. Forward drives the rows of an array (its inputs) and senses the columns; transposed drives the
/// columns and senses the rows, through the same devices.
enum class ReadDirection { forward, transposed };

/// A value for each of the two ports of an array. A read in either direction has converters of its own: a forward one drives rows by DACs
/// and senses columns by ADCs, a transposed one drives columns and senses rows.
template <class T>
struct PerPort {
  T forward = {}, transposed = {};

  T total() const { return forward + transposed; }
  T& at(ReadDirection way) { return way == ReadDirection::forward ? forward : transposed; }
  const T& at(ReadDirection way) const { return way == ReadDirection::forward ? forward : transposed; }
  PerPort& operator+=(const PerPort& other) {
    forward += other.forward;
    transposed += other.transposed;
    return *this;
  }
  bool operator==(const PerPort&) const = default;
};

/// Derivative of a read at its operating point, D = ∂out/∂drive: jvp is out = D v, vjp is out = Dᵀ u.
enum class Derivative { jvp, vjp };

/// Direction in which a small signal passes an array: derivatives of a product W are products with W or Wᵀ again.
inline ReadDirection way_of(ReadDirection read, Derivative derivative) {
  if (derivative == Derivative::jvp) return read;
  return read == ReadDirection::forward ? ReadDirection::transposed : ReadDirection::forward;
}

/// Ability of an array to be driven at its rows and at its columns in one slot.
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

/// Use of the arrays in a sequence. It counts the reads of each array, in rows of a drive, and notes the reach of converters
/// that are ranged by every read. An evaluation that reads an array k times a row takes k slots. Either direction counts. Each
/// of the means of several reads, corrections and the patches of a convolution counts too. Driven both ways at once it takes as
/// many slots as the busier way. Arrays work side by side, and the busiest sets the pace (docs/reference/read_timing.md, "Slots
/// of a step").
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

  /// Slots that one of `evaluations` evaluations of `rows` rows took: at least 1.
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
    std::array<std::array<double, 2>, read_classes> rows = {};  ///< row counts by class and direction
  };
  std::unordered_map<std::uint32_t, Reads> of_;
  ConverterExtents extents_;
};

}  // namespace nudge
