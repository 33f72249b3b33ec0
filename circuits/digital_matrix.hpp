// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "circuits/linear_map.hpp"

namespace nudge {

/// A weight matrix held as floating-point numbers: exact reads, exact updates, no noise. The reference every crossbar is
/// compared with.
template <class S>
class DigitalMatrix : public LinearMap<S> {
 public:
  /// unit_heat: what a conductance of one unit of weight stands for, of numbers that stand for devices (LinearMap::unit_heat_J).
  explicit DigitalMatrix(Matrix<S> weights, double unit_heat = 0)
      : weights_(std::move(weights)), unit_heat_J_(unit_heat) {}

  Index inputs() const override { return weights_.rows(); }
  Index outputs() const override { return weights_.cols(); }

  void forward(ConstMatrixRef<S> x, MatrixRef<S> y, Columns columns, Store store, ReadContext& read) const override;
  void transposed(ConstMatrixRef<S> y, MatrixRef<S> x, Columns columns, Store store, ReadContext& read) const override;

  /// W ← W + delta, exactly.
  void apply_update(const Matrix<S>& delta, std::uint64_t step) override;
  void apply_scaled(const Matrix<S>& direction, S scale, std::uint64_t step) override;
  void apply_factors(const std::vector<FactorPair<S>>& factors, S rate) override;

  /// W ← target, exactly.
  void program(const Matrix<S>& target) override;

  bool plain() const override { return true; }
  const Matrix<S>& weights() const override { return weights_; }
  std::unique_ptr<LinearMap<double>> noise_free() const override;
  std::vector<StateArray<S>> state() override;
  double unit_heat_J() const override { return unit_heat_J_; }

 protected:
  Matrix<S>& values() { return weights_; }

 private:
  Matrix<S> weights_;
  double unit_heat_J_;
};

}  // namespace nudge
