// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Whether an effect may wait until enough time has come together for a step well above rounding, which spares work when
/// time comes in small pieces, or has to apply all time at once.
enum class Gathering { allowed, none };

/// A named array of slow state, for checkpoints.
template <class S>
struct SlowArray {
  std::string name;
  std::string unit;
  std::string description;
  Matrix<S>* values;
};

/// A double as three numbers of type S whose sum it is exactly: how times are kept in checkpoints of float arrays.
template <class S>
void store_double(double value, Index row, Matrix<S>& image) {
  for (Index part = 0; part < 3; ++part) {
    image(row, part) = static_cast<S>(value);
    value -= static_cast<double>(image(row, part));
  }
}

template <class S>
double load_double(const Matrix<S>& image, Index row) {
  return static_cast<double>(image(row, 0)) + (static_cast<double>(image(row, 1)) + static_cast<double>(image(row, 2)));
}

}  // namespace nudge
