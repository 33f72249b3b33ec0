// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include "sim/base/matrix.hpp"
#include "sim/base/rng.hpp"

namespace nudge::test {

/// Standard normal matrix (rows, cols) times scale; a pure function of its arguments.
template <class S>
Matrix<S> random_matrix(Index rows, Index cols, std::uint64_t seed, double scale = 1.0) {
  Matrix<S> m(rows, cols);
  fill_normal<S>(RngKey{seed, Purpose::probe, 0}, 0, 0, std::span<S>(m.data(), static_cast<std::size_t>(m.size())));
  m *= static_cast<S>(scale);
  return m;
}

/// Returns ‖a − b‖_F / ‖b‖_F, b the reference; ‖a‖_F when b = 0. Summed in double. NaN in, NaN out (so a CHECK of <
/// fails).
template <class A, class B>
double relative_error(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) throw std::invalid_argument("relative_error: shapes differ");
  const double difference = (a.template cast<double>() - b.template cast<double>()).norm();
  const double scale = b.template cast<double>().norm();
  return scale == 0.0 ? difference : difference / scale;
}

/// Order p of error = c stepᵖ: least-squares slope of log(error) against log(step). Choose steps where the method's
/// leading error term stands well above rounding. Needs two or more different steps, all numbers positive.
inline double order_of_convergence(const std::vector<double>& errors, const std::vector<double>& steps) {
  const std::size_t n = errors.size();
  const auto positive = [](double x) { return x > 0.0 && std::isfinite(x); };
  if (n < 2 || n != steps.size() || !std::all_of(errors.begin(), errors.end(), positive) ||
      !std::all_of(steps.begin(), steps.end(), positive)) {
    throw std::invalid_argument("order_of_convergence: needs two or more positive errors, each with its step");
  }
  double mean_x = 0.0;
  double mean_y = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    mean_x += std::log(steps[i]) / static_cast<double>(n);
    mean_y += std::log(errors[i]) / static_cast<double>(n);
  }
  double covariance = 0.0;
  double variance = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    covariance += (std::log(steps[i]) - mean_x) * (std::log(errors[i]) - mean_y);
    variance += (std::log(steps[i]) - mean_x) * (std::log(steps[i]) - mean_x);
  }
  if (variance == 0.0) throw std::invalid_argument("order_of_convergence: all steps are equal");
  return covariance / variance;
}

}  // namespace nudge::test
