// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include "sim/base/errors.hpp"
#include "sim/dynamics.hpp"
#include "sim/motion.hpp"

namespace nudge {

/// Γ (1, cols) of every column of a system. UserError where there are several values, but not one for each node.
template <class S>
Matrix<S> friction_of(const Motion& motion, Dynamics<S>& dynamics) {
  Matrix<S> out = Matrix<S>::Constant(1, dynamics.cols(), static_cast<S>(motion.friction.front()));
  if (motion.uniform()) return out;
  Layered<S>* layered = dynamics.layered();
  const std::size_t nodes = layered != nullptr ? layered->nodes() : 1;
  if (nodes != motion.friction.size()) {
    throw UserError(fmt::format("relaxation.friction has {} values for {} node{}: give one for all, or one for each",
                                motion.friction.size(), nodes, nodes == 1 ? "" : "s"));
  }
  for (std::size_t node = 0; node < nodes; ++node) {
    const Columns at = layered->node_columns(node);
    out.middleCols(at.begin, at.count).setConstant(static_cast<S>(motion.friction[node]));
  }
  return out;
}

/// Fixed steps ε of a Motion, with an ODE state y = dz/dt beside every z:
///     y ← e^{−Γε/M} y + (1 − e^{−Γε/M})/Γ f,   z ← z + ε y
/// y relaxes exactly under the f of the step; the whole is of first order in ε. Without a mass it is Euler, z ← z + ε f. Without friction it
/// is symplectic Euler (Hairer, Lubich and Wanner, Geometric Numerical Integration, 2006, chapter VI.3), else Polyak's heavy ball (1964).
/// With inertia (sim/inertia.hpp), f is D⁻¹ F. Not modelled: a pole per line inside a force of several reads in a row (attention).
template <class S>
class Mover {
 public:
  /// UserError as friction_of().
  Mover(const Motion& motion, double step, Dynamics<S>& dynamics, Inertia<S>* inertia)
      : first_order_(motion.first_order()),
        stops_(motion.stops),
        step_(static_cast<S>(step)),
        box_(dynamics.box()),
        inertia_(inertia) {
    const double gamma = motion.friction.front();
    keep_ = static_cast<S>(motion.kept(step, gamma));
    gain_ = static_cast<S>(motion.gained(step, gamma));
    if (motion.uniform()) return;
    keeps_ = gains_ = friction_of(motion, dynamics);
    for (S& x : keeps_.reshaped()) x = static_cast<S>(motion.kept(step, x));
    for (S& x : gains_.reshaped()) x = static_cast<S>(motion.gained(step, x));
  }
  Mover(const Motion& motion, double step, Dynamics<S>& dynamics) : Mover(motion, step, dynamics, dynamics.inertia()) {}

  /// Sets `flow` to 0; it holds y from one step to the next. advance() then takes a step, and keeps z in the box.
  void start(Index rows, Index cols, Matrix<S>& flow) const {
    if (!first_order_) flow.setZero(rows, cols);
  }
  void advance(MatrixRef<S> z, ConstMatrixRef<S> force, Matrix<S>& flow) {
    move(z, force, flow);
    if (box_ == nullptr) return;
    box_->project(z, {0, z.cols()});
    if (stops_) box_->pull_back(z, flow);
  }
  /// A step without the box: of an adjoint, which has none.
  void move(MatrixRef<S> z, ConstMatrixRef<S> force, Matrix<S>& flow) {
    if (inertia_ == nullptr) return push(z, force, flow);
    accelerated_ = force;
    inertia_->accelerate(accelerated_);
    push(z, accelerated_, flow);
  }

  /// Starts on a way back: the speeds take a force of their own, with nothing lost, and the state goes.
  void launch(MatrixRef<S> z, ConstMatrixRef<S> force, Matrix<S>& flow) const {
    if (gains_.size() == 0) {
      flow += gain_ * force;
    } else {
      flow.array() += force.array().rowwise() * gains_.row(0).array();
    }
    z += step_ * flow;
  }

  /// Pulls adjoints back through a step that ended in z_end: λ of z and μ of y. Afterwards `push` is what meets ∂F/∂z and ∂F/∂θ, and λ
  /// lacks Jᵀ push alone. Without inertia.
  void pull(ConstMatrixRef<S> z_end, Matrix<S>& lambda, Matrix<S>& mu, Matrix<S>& push) const {
    if (box_ != nullptr) box_->pull_back(z_end, lambda);
    if (first_order_) {
      push = step_ * lambda;
      return;
    }
    if (box_ != nullptr && stops_) box_->pull_back(z_end, mu);
    mu += step_ * lambda;
    push = mu;
    scale(push, gain_, gains_);
    scale(mu, keep_, keeps_);
  }

 private:
  static void scale(Matrix<S>& x, S one, const Matrix<S>& each) {
    if (each.size() == 0) {
      x *= one;
    } else {
      x.array().rowwise() *= each.row(0).array();
    }
  }

  void push(MatrixRef<S> z, ConstMatrixRef<S> force, Matrix<S>& flow) const {
    if (first_order_) {
      z += step_ * force;
      return;
    }
    scale(flow, keep_, keeps_);
    launch(z, force, flow);
  }

  bool first_order_, stops_;
  S step_, keep_ = 0, gain_ = 1;
  Matrix<S> keeps_, gains_;  ///< (1, cols), of each column; empty: the same for all
  const Box<S>* box_;
  Inertia<S>* inertia_;
  Matrix<S> accelerated_;
};

}  // namespace nudge
