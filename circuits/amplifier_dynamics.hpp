// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sim/dynamics.hpp"

namespace nudge {

/// A circuit whose node currents come from amplifiers of finite bandwidth, one pole each: of a Dynamics dz/dt = F(z)
///     dz/dt = y,   dy/dt = (F(z) − y)/τ_a        (time and τ_a in units of τ)
/// The state is (2T, C): rows [0, T) are the nodes z, rows [T, 2T) the amplifier outputs y. Equilibria are those of F with
/// y = 0; their stability is not: an eigenvalue μ of F becomes the roots of λ (1 + τ_a λ) = μ, which stay in the left
/// half-plane only while τ_a (Im μ)² < −Re μ: non-reciprocal coupling that rotates asks for fast amplifiers.
/// What it does not model: a pole per line inside a force of several reads in a row (attention); their lags are lumped
/// at the nodes. One amplifier: τ_a = (1 + L)/(2π GBW τ), L the load of its line over its feedback conductance.
/// The whole is one non-conservative force: it has no energy. `inner` is kept by reference.
template <class S>
class AmplifierDynamics final : public Dynamics<S> {
 public:
  AmplifierDynamics(Dynamics<S>& inner, double amplifier_tau);
  ~AmplifierDynamics() override;

  Index rows() const override { return 2 * inner_->rows(); }
  Index cols() const override { return inner_->cols(); }
  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part = Part::all) override;
  Linearization<S>& linearize(ConstMatrixRef<S> z) override;
  void set_read_interval(double dt) override { inner_->set_read_interval(dt); }

 private:
  class Point;
  Dynamics<S>* inner_;
  S rate_;  ///< 1/τ_a
  std::unique_ptr<Point> point_;
};

/// τ_a of an amplifier of gain–bandwidth product GBW on a line of load L (noise gain 1 + L), in units of τ:
/// (1 + L)/(2π GBW τ). First-order model of IEEE TCAS-II 2021, doi:10.1109/TCSII.2021.3068764.
double amplifier_tau(double gain_bandwidth_Hz, double load, double time_constant_s);

}  // namespace nudge
