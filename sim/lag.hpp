// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "sim/inertia.hpp"

namespace nudge {

/// Amplifiers of finite bandwidth between the forces and the nodes they drive: one pole each, an ODE state y beside every z,
///     dz/dt = y,   dy/dt = (f − y)/τ_a        (times in units of τ),   y = 0 at the start
/// Equilibria belong to f; stability does not. An eigenvalue μ of f becomes the roots of λ (1 + τ_a λ) = μ. They stay in the
/// left half-plane only while τ_a (Im μ)² < −Re μ: coupling that rotates asks for fast amplifiers. In one fixed step y
/// relaxes exactly towards the f of the step, then z ← z + ε y: first order in ε. τ_a = 0 is Euler. With inertia, f is D⁻¹ F.
/// Not modelled: a pole per line inside a force of several reads in a row (attention); lags are lumped at the nodes.
template <class S>
class Lag {
 public:
  Lag(double lag, double step, Inertia<S>* inertia = nullptr)
      : step_(static_cast<S>(step)),
        share_(lag > 0 ? static_cast<S>(-std::expm1(-step / lag)) : S(1)),
        inertia_(inertia) {}

  /// Share s of y ← y + s (f − y) in one step; 1: no amplifiers.
  S share() const { return share_; }

  /// Sets `flow` to 0; it holds y from one step to the next. advance() then takes a step z ← z + ε y.
  void start(Index rows, Index cols, Matrix<S>& flow) const {
    if (share_ < S(1)) flow.setZero(rows, cols);
  }
  void advance(MatrixRef<S> z, ConstMatrixRef<S> force, Matrix<S>& flow) {
    if (inertia_ == nullptr) return move(z, force, flow);
    accelerated_ = force;
    inertia_->accelerate(accelerated_);
    move(z, accelerated_, flow);
  }

 private:
  void move(MatrixRef<S> z, ConstMatrixRef<S> force, Matrix<S>& flow) const {
    if (share_ == S(1)) {
      z += step_ * force;
      return;
    }
    flow += share_ * (force - flow);
    z += step_ * flow;
  }

  S step_, share_;
  Inertia<S>* inertia_;
  Matrix<S> accelerated_;
};

}  // namespace nudge
