// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <functional>
#include <numbers>
#include <span>

#include "sim/base/rng.hpp"
#include "sim/dynamics.hpp"

namespace nudge::test {

template <class S>
using Vec = Eigen::Matrix<S, Eigen::Dynamic, 1>;
template <class S>
using Dense = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;

/// Draws a standard normal matrix, a function of the seed.
template <class S>
Dense<S> random_dense(Index rows, Index cols, std::uint64_t seed) {
  Dense<S> out(rows, cols);
  fill_normal<S>({seed, Purpose::synthetic_data, 7}, 0, 0, {out.data(), static_cast<std::size_t>(out.size())});
  return out;
}

/// Small system given by its force and its dense Jacobian on flattened states; everything in it is non-conservative.
template <class S>
class SmallDynamics : public Dynamics<S>, private Linearization<S> {
 public:
  using Force = std::function<Vec<S>(const Vec<S>&)>;
  using Jacobian = std::function<Dense<S>(const Vec<S>&)>;

  SmallDynamics(Index rows, Index cols, Force force, Jacobian jacobian = nullptr)
      : rows_(rows), cols_(cols), force_(std::move(force)), jacobian_(std::move(jacobian)) {}

  Index rows() const override { return rows_; }
  Index cols() const override { return cols_; }
  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part /*part*/ = Part::all) override {
    ++evaluations;
    store(force_(flat(z)), f);
  }
  Linearization<S>& linearize(ConstMatrixRef<S> z) override {
    at_ = flat(z);
    j_ = jacobian_(at_);
    return *this;
  }
  Capabilities<S> capabilities() override { return {.reading = &last_reading}; }

  int evaluations = 0;
  Reading last_reading = {.relaxation = {0, 0}};

 private:
  void force(MatrixRef<S> f, Part /*part*/ = Part::all) override { store(force_(at_), f); }
  void jvp(ConstMatrixRef<S> v, MatrixRef<S> out, Part /*part*/ = Part::all) override { store(j_ * flat(v), out); }
  void vjp(ConstMatrixRef<S> u, MatrixRef<S> out, Part /*part*/ = Part::all) override {
    store(j_.transpose() * flat(u), out);
  }
  void accumulate(ConstMatrixRef<S> u, S /*scale*/, GradientSink<S>& /*sink*/, MatrixRef<S> pulled) override {
    if (pulled.size() > 0) vjp(u, pulled);
  }

  static Vec<S> flat(ConstMatrixRef<S> z) {
    Vec<S> x(z.size());
    Eigen::Map<Matrix<S>>(x.data(), z.rows(), z.cols()) = z;
    return x;
  }
  static void store(const Vec<S>& x, MatrixRef<S> out) {
    out = Eigen::Map<const Matrix<S>>(x.data(), out.rows(), out.cols());
  }

  Index rows_, cols_;
  Force force_;
  Jacobian jacobian_;
  Vec<S> at_;
  Dense<S> j_;
};

/// Makes the system F(z) = A (z − root).
template <class S>
SmallDynamics<S> linear_system(Index rows, Index cols, const Dense<S>& a, const Vec<S>& root) {
  return {rows, cols, [=](const Vec<S>& z) -> Vec<S> { return a * (z - root); }, [=](const Vec<S>&) { return a; }};
}

/// Computes the Jacobian of tanh_network at z.
template <class S>
Dense<S> tanh_jacobian(const Dense<S>& w, const Vec<S>& z) {
  const Vec<S> slope = 1 - (w * z).array().tanh().square();
  Dense<S> j = slope.asDiagonal() * w;
  j.diagonal().array() -= 1;
  return j;
}

/// Makes the system F(z) = −z + tanh(W z) + b with b chosen so that F(root) = 0: a Hopfield-like network, non-symmetric
/// W.
template <class S>
SmallDynamics<S> tanh_network(Index rows, Index cols, const Dense<S>& w, const Vec<S>& root) {
  const Vec<S> b = root - Vec<S>((w * root).array().tanh());
  return {rows, cols, [=](const Vec<S>& z) -> Vec<S> { return Vec<S>((w * z).array().tanh()) - z + b; },
          [=](const Vec<S>& z) { return tanh_jacobian<S>(w, z); }};
}

/// Measured order: least-squares slope of log2(error) against log2(step).
inline double order(std::span<const double> steps, std::span<const double> errors) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const auto n = static_cast<double>(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double x = std::log2(steps[i]);
    const double y = std::log2(errors[i]);
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

}  // namespace nudge::test
