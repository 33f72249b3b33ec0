// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/dynamics.hpp"

namespace nudge {

/// System of units and the amplifiers that drive them (sim/lag.hpp), as one state x = (z, y) of twice the columns:
///     dz/dt = y,   dy/dt = (D⁻¹ F(z) − y)/τ_a        (times in τ; D of Inertia)
/// Without amplifiers (τ_a = 0) it is x = z, dz/dt = D⁻¹ F(z). Its equilibria belong to F. Its Jacobian tells whether
/// the running circuit holds them.
class Lagged final : public Dynamics<double>, private Linearization<double> {
 public:
  /// `lag`: τ_a ≥ 0.
  Lagged(Dynamics<double>& inner, double lag) : inner_(inner), inertia_(inner.inertia()), lag_(lag) {}

  /// State (rows, cols()) of units at rest in z (rows, inner cols), where amplifiers give nothing.
  Matrix<double> at_rest(ConstMatrixRef<double> z) const {
    Matrix<double> x = Matrix<double>::Zero(z.rows(), cols());
    x.leftCols(z.cols()) = z;
    return x;
  }

  /// Mask of moving_units() at the point that was linearised last; empty: all can move.
  Matrix<double> moving() {
    const Matrix<double> units = moving_units<double>(inner_, *at_, z_);
    if (units.size() == 0 || lag_ == 0) return units;
    Matrix<double> both(units.rows(), 2 * units.cols());
    both << units, units;
    return both;
  }

  Index rows() const override { return inner_.rows(); }
  Index cols() const override { return lag_ > 0 ? 2 * inner_.cols() : inner_.cols(); }
  void force(ConstMatrixRef<double> x, MatrixRef<double> f, Part part = Part::all) override {
    inner_force_.resize(x.rows(), inner_.cols());
    inner_.force(x.leftCols(inner_.cols()), inner_force_, part);
    put(x, f);
  }
  Linearization<double>& linearize(ConstMatrixRef<double> x) override {
    z_ = x.leftCols(inner_.cols());
    x_ = x;
    at_ = &inner_.linearize(z_);
    return *this;
  }

 private:
  void force(MatrixRef<double> f, Part part = Part::all) override {
    inner_force_.resize(z_.rows(), z_.cols());
    at_->force(inner_force_, part);
    put(x_, f);
  }
  void jvp(ConstMatrixRef<double> v, MatrixRef<double> out, Part part = Part::all) override {
    direction_ = v.leftCols(inner_.cols());
    inner_force_.resize(v.rows(), inner_.cols());
    at_->jvp(direction_, inner_force_, part);
    put(v, out);
  }
  /// (Jᵀ D⁻¹ p/τ_a, u − p/τ_a) of (u, p); D is symmetric.
  void vjp(ConstMatrixRef<double> u, MatrixRef<double> out, Part part = Part::all) override {
    const Index n = inner_.cols();
    inner_force_.resize(u.rows(), n);
    at_->vjp(driven_by(u), inner_force_, part);
    out.leftCols(n) = inner_force_;
    if (lag_ > 0) out.rightCols(n) = u.leftCols(n) - u.rightCols(n) / lag_;
  }
  void accumulate(ConstMatrixRef<double> u, double scale, GradientSink<double>& sink,
                  MatrixRef<double> pulled) override {
    at_->accumulate_parameter_gradient(driven_by(u), scale, sink);
    if (pulled.size() > 0) vjp(u, pulled);
  }

  /// D⁻¹ p/τ_a of (u, p), which meets F.
  const Matrix<double>& driven_by(ConstMatrixRef<double> u) {
    direction_ = lag_ > 0 ? Matrix<double>(u.rightCols(inner_.cols()) / lag_) : Matrix<double>(u);
    if (inertia_ != nullptr) inertia_->accelerate(direction_);
    return direction_;
  }

  /// (y, (D⁻¹ f − y)/τ_a) of x = (z, y), or D⁻¹ f, with f in inner_force_.
  void put(ConstMatrixRef<double> x, MatrixRef<double> out) {
    const Index n = inner_.cols();
    if (inertia_ != nullptr) inertia_->accelerate(inner_force_);
    if (lag_ == 0) {
      out = inner_force_;
      return;
    }
    out.leftCols(n) = x.rightCols(n);
    out.rightCols(n) = (inner_force_ - x.rightCols(n)) / lag_;
  }

  Dynamics<double>& inner_;
  Inertia<double>* inertia_;
  double lag_;
  Linearization<double>* at_ = nullptr;
  Matrix<double> z_, x_, inner_force_, direction_;
};

}  // namespace nudge
