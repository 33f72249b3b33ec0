// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/cost.hpp"

namespace nudge {

/// C(z) = ⟨u, z⟩: what a model around an equilibrium asks of it. ∂C/∂z = u at every state; it has no parameters.
template <class S>
class LinearCost final : public Cost<S> {
 public:
  /// u (rows, cols); a copy is kept.
  void bind(ConstMatrixRef<S> u) { u_ = u; }

  double value(ConstMatrixRef<S> z) override {
    return (u_.template cast<double>().array() * z.template cast<double>().array()).sum();
  }
  void gradient(ConstMatrixRef<S> z, MatrixRef<S> out) override {
    for (Index row = 0; row < z.rows(); row += u_.rows()) out.middleRows(row, u_.rows()) = u_;
  }
  void accumulate_parameter_gradient(ConstMatrixRef<S> /*z*/, S /*scale*/, GradientSink<S>& /*sink*/) override {}

 private:
  Matrix<S> u_;
};

}  // namespace nudge
