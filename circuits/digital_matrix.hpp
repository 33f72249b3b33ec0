// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "circuits/linear_map.hpp"

namespace nudge {

/// Weight matrix held as floating-point numbers: exact reads, exact updates, no noise. Every crossbar is compared with it.
template <class S>
class DigitalMatrix : public LinearMap<S> {
 public:
  /// Holds the weights; unit_heat: heat of a conductance of one unit of weight, for numbers that stand for devices (MapTraits::unit_heat_J).
  explicit DigitalMatrix(Matrix<S> weights, double unit_heat = 0)
      : weights_(std::move(weights)), unit_heat_J_(unit_heat) {}

  void read(ReadDirection way, ConstMatrixRef<S> x, MatrixRef<S> out, Columns columns, Store store,
            ReadContext& context) const override;
  MapTraits<S> traits() const override { return {.plain = true, .unit_heat_J = unit_heat_J_}; }

  /// Applies an update exactly.
  void apply(const WeightUpdate<S>& update) override;

  /// Sets W ← target, exactly.
  void program(const Matrix<S>& target) override;

  const Matrix<S>& weights() const override { return weights_; }
  std::unique_ptr<LinearMap<double>> noise_free() const override;
  std::vector<StateArray<S>> state() override;

 protected:
  Matrix<S>& values() { return weights_; }

 private:
  Matrix<S> weights_;
  double unit_heat_J_;
};

/// Conductances held as floating-point numbers. This is a DigitalMatrix whose updates stop at 0, W ← max(W + delta, 0),
/// and which keeps the sums that load the nodes at both ends. program() and restored states are taken unchanged.
template <class S>
class DigitalConductances final : public DigitalMatrix<S> {
 public:
  explicit DigitalConductances(Matrix<S> weights);

  void apply(const WeightUpdate<S>& update) override;
  void program(const Matrix<S>& target) override;
  void state_restored() override;

  MapTraits<S> traits() const override { return {.plain = true, .sums = &sums_}; }

 private:
  WeightSums<S> sums_;
};

}  // namespace nudge
