// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sim/base/matrix.hpp"
#include "sim/base/rng.hpp"

namespace nudge {

/// Normal numbers of the given deviation, a pure function of seed and stream; float is double rounded.
template <class S>
Matrix<S> normal_matrix(Index rows, Index cols, double deviation, std::uint64_t seed, std::uint32_t stream) {
  Matrix<double> values(rows, cols);
  fill_normal<double>({seed, Purpose::weight_init, stream}, 0, 0,
                      std::span<double>(values.data(), static_cast<std::size_t>(values.size())));
  return (deviation * values).template cast<S>();
}

}  // namespace nudge
