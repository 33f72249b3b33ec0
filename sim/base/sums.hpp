// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Inner product Σ x_i y_i in double, by sums that do not wait for each other.
template <class S>
double inner_product_of_row(std::span<const S> x, std::span<const S> y) {
  constexpr std::size_t kSums = 16;
  std::array<double, kSums> sums{};
  const std::size_t whole = x.size() - x.size() % kSums;
  for (std::size_t i = 0; i < whole; i += kSums) {
    for (std::size_t k = 0; k < kSums; ++k) sums[k] += static_cast<double>(x[i + k]) * static_cast<double>(y[i + k]);
  }
  double sum = 0;
  for (const double one : sums) sum += one;
  for (std::size_t i = whole; i < x.size(); ++i) sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  return sum;
}

/// Inner product Σ x_ij y_ij of two matrices of one shape, in double.
template <class S>
double inner_product(ConstMatrixRef<S> x, ConstMatrixRef<S> y) {
  double sum = 0;
  const auto count = static_cast<std::size_t>(x.cols());
  for (Index row = 0; row < x.rows(); ++row) {
    sum +=
        inner_product_of_row<S>({x.data() + row * x.outerStride(), count}, {y.data() + row * y.outerStride(), count});
  }
  return sum;
}

/// Weighted sum of squares Σ w_j x_ij² in double, w (1, cols).
template <class S>
double weighted_squares(ConstMatrixRef<S> x, ConstMatrixRef<S> w) {
  constexpr Index kSums = 16;
  std::array<double, kSums> sums{};
  const Index whole = x.cols() - x.cols() % kSums;
  const auto term = [](S weight, S value) {
    return static_cast<double>(weight) * (static_cast<double>(value) * static_cast<double>(value));
  };
  double rest = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    const S* row = x.data() + i * x.outerStride();
    for (Index j = 0; j < whole; j += kSums) {
      for (Index k = 0; k < kSums; ++k) sums[static_cast<std::size_t>(k)] += term(w.data()[j + k], row[j + k]);
    }
    for (Index j = whole; j < x.cols(); ++j) rest += term(w.data()[j], row[j]);
  }
  for (const double one : sums) rest += one;
  return rest;
}

}  // namespace nudge
