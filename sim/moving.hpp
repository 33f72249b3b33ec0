// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/mover.hpp"

namespace nudge {

/// System of units and their speeds (sim/motion.hpp), as one state x = (z, y) of twice the columns:
///     dz/dt = y,   dy/dt = (D⁻¹ F(z) − Γ y)/M        (times in τ; D of Inertia)
/// Without a mass (of slow amplifiers, for instance) it is x = z, dz/dt = D⁻¹ F(z). Its equilibria belong to F. Its Jacobian tells
/// whether the running circuit holds them.
class Moving final : public Dynamics<double>, private Linearization<double> {
 public:
  Moving(Dynamics<double>& inner, const Motion& motion)
      : inner_(inner), inertia_(inner.inertia()), mass_(motion.mass), friction_(friction_of(motion, inner)) {}

  /// State (rows, cols()) of units at rest in z (rows, inner cols).
  Matrix<double> at_rest(ConstMatrixRef<double> z) const {
    Matrix<double> x = Matrix<double>::Zero(z.rows(), cols());
    x.leftCols(z.cols()) = z;
    return x;
  }

  /// Mask of moving_units() at the point that was linearised last; empty: all can move.
  Matrix<double> moving() {
    const Matrix<double> units = moving_units<double>(inner_, *at_, z_);
    if (units.size() == 0 || mass_ == 0) return units;
    Matrix<double> both(units.rows(), 2 * units.cols());
    both << units, units;
    return both;
  }

  Index rows() const override { return inner_.rows(); }
  Index cols() const override { return mass_ > 0 ? 2 * inner_.cols() : inner_.cols(); }
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
  /// (Jᵀ D⁻¹ p/M, u − Γ p/M) of (u, p); D is symmetric.
  void vjp(ConstMatrixRef<double> u, MatrixRef<double> out, Part part = Part::all) override {
    const Index n = inner_.cols();
    inner_force_.resize(u.rows(), n);
    at_->vjp(driven_by(u), inner_force_, part);
    out.leftCols(n) = inner_force_;
    if (mass_ > 0) out.rightCols(n) = u.leftCols(n) - slowed(u) / mass_;
  }
  void accumulate(ConstMatrixRef<double> u, double scale, GradientSink<double>& sink,
                  MatrixRef<double> pulled) override {
    at_->accumulate_parameter_gradient(driven_by(u), scale, sink);
    if (pulled.size() > 0) vjp(u, pulled);
  }

  /// Γ y of (z, y).
  Matrix<double> slowed(ConstMatrixRef<double> x) const {
    return x.rightCols(inner_.cols()).array().rowwise() * friction_.row(0).array();
  }

  /// D⁻¹ p/M of (u, p), which meets F.
  const Matrix<double>& driven_by(ConstMatrixRef<double> u) {
    direction_ = mass_ > 0 ? Matrix<double>(u.rightCols(inner_.cols()) / mass_) : Matrix<double>(u);
    if (inertia_ != nullptr) inertia_->accelerate(direction_);
    return direction_;
  }

  /// (y, (D⁻¹ f − Γ y)/M) of x = (z, y), or D⁻¹ f, with f in inner_force_.
  void put(ConstMatrixRef<double> x, MatrixRef<double> out) {
    const Index n = inner_.cols();
    if (inertia_ != nullptr) inertia_->accelerate(inner_force_);
    if (mass_ == 0) {
      out = inner_force_;
      return;
    }
    out.leftCols(n) = x.rightCols(n);
    out.rightCols(n) = (inner_force_ - slowed(x)) / mass_;
  }

  Dynamics<double>& inner_;
  Inertia<double>* inertia_;
  double mass_;
  Matrix<double> friction_;  ///< (1, inner cols)
  Linearization<double>* at_ = nullptr;
  Matrix<double> z_, x_, inner_force_, direction_;
};

}  // namespace nudge
