// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "mixers/tape.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"

namespace nudge::test {

/// What is differentiated: leaves and what is computed from them.
struct Differentiable {
  std::vector<Matrix<double>> leaves;
  std::function<std::vector<Value<double>>(const std::vector<Value<double>>&)> build;
};

inline double dot(const Matrix<double>& a, const Matrix<double>& b) { return a.cwiseProduct(b).sum(); }

/// For random tangents v of all leaves and cotangents w of all results:
/// - ⟨w, J v⟩ = ⟨Jᵀ w, v⟩ within 1e-12 of the sizes: a few hundred roundings of 1e-16 in the sums of these small
///   examples;
/// - J v is the sum over the leaves of J applied to one leaf's tangent (arguments without tangent), same tolerance;
/// - (f(x + hv) − f(x − hv))/2h is J v within 1e-6: h = 1e-5 leaves h² f'''/6 ~ 1e-10 f''' and rounding 1e-16/h = 1e-11
///   f, and the examples' third derivatives are below some thousands. Wrong derivatives are off by order one.
inline void check_derivatives(const Differentiable& f) {
  Tape<double> tape;
  std::vector<Value<double>> x;
  std::vector<Matrix<double>> v;
  for (const auto& leaf : f.leaves) {
    x.push_back(tape.input(leaf));
    v.push_back(random_matrix<double>(leaf.rows(), leaf.cols(), 100 + v.size()));
  }
  const auto y = f.build(x);
  const auto push = [&](auto&& choose) {
    tape.clear_tangents();
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (choose(k)) tape.set_tangent(x[k], v[k]);
    }
    tape.push_forward();
    std::vector<Matrix<double>> dy;
    for (const auto& each : y) {
      const Matrix<double>& d = tape.tangent(each);
      dy.push_back(d.size() > 0 ? d : Matrix<double>::Zero(each.rows(), each.cols()));
    }
    return dy;
  };
  const auto dy = push([](std::size_t) { return true; });
  double forward = 0;
  double scale = 0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    const auto w = random_matrix<double>(y[k].rows(), y[k].cols(), 200 + k);
    forward += dot(w, dy[k]);
    scale += w.norm() * dy[k].norm();
    tape.add_cotangent(y[k], w);
  }
  tape.pull_back();
  double backward = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (tape.cotangent(x[k]).size() == 0) continue;
    backward += dot(tape.cotangent(x[k]), v[k]);
    scale += tape.cotangent(x[k]).norm() * v[k].norm();
  }
  CHECK(scale > 0);
  CHECK(std::abs(forward - backward) < 1e-12 * scale);

  std::vector<Matrix<double>> sum;
  for (const auto& each : y) sum.push_back(Matrix<double>::Zero(each.rows(), each.cols()));
  for (std::size_t one = 0; one < x.size(); ++one) {
    const auto part = push([&](std::size_t k) { return k == one; });
    for (std::size_t k = 0; k < y.size(); ++k) sum[k] += part[k];
  }
  const double h = 1e-5;
  std::vector<Matrix<double>> difference(y.size());
  for (const double sign : {1.0, -1.0}) {
    for (std::size_t k = 0; k < x.size(); ++k) tape.leaf(x[k]) = f.leaves[k] + sign * h * v[k];
    tape.run();
    for (std::size_t k = 0; k < y.size(); ++k) {
      if (sign > 0) {
        difference[k] = y[k].matrix() / (2 * h);
      } else {
        difference[k] -= y[k].matrix() / (2 * h);
      }
    }
  }
  for (std::size_t k = 0; k < y.size(); ++k) {
    CAPTURE(k);
    CHECK((sum[k] - dy[k]).norm() <= 1e-12 * scale);
    CHECK((difference[k] - dy[k]).norm() <= 1e-6 * std::max(dy[k].norm(), 1e-3));
  }
}

}  // namespace nudge::test
