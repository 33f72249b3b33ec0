// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "circuits/terms/unit_force.hpp"

namespace mine {

/// A force term of one's own: units that hang as pendulums,
///     F(z) = −κ sin z,   E(z) = κ Σ (1 − cos z),   J = −κ diag(cos z),
/// of all units of a circuit. No weights.
template <class S>
class PendulumForce final : public nudge::UnitForce<S> {
 public:
  PendulumForce(double weight, std::vector<int> nodes)
      : nudge::UnitForce<S>("pendulum", std::move(nodes)), weight_(static_cast<S>(weight)) {}

 private:
  void add_force(nudge::ConstMatrixRef<S> z, nudge::MatrixRef<S> f) const override {
    f.array() -= weight_ * z.array().sin();
  }
  void slope(nudge::ConstMatrixRef<S> z, nudge::MatrixRef<S> slope) const override {
    slope.array() = -weight_ * z.array().cos();
  }
  double energy(nudge::ConstMatrixRef<S> z) const override {
    return static_cast<double>(weight_) * (1 - z.template cast<double>().array().cos()).sum();
  }

  S weight_;
};

}  // namespace mine
