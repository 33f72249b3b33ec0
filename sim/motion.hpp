// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace nudge {

/// Law by which a force moves the nodes, with times in units of τ:
///     M d²z/dt² + Γ dz/dt = F(z),   at rest at the start
/// M = 0 with Γ = 1 is τ dz/dt = F(z). Amplifiers of one pole τ_a between force and node are M = τ_a with Γ = 1: dz/dt = y,
/// τ_a dy/dt = F − y. Coils behind the nodes, or masses, are any M and Γ. Equilibria belong to F; stability does not. An
/// eigenvalue μ of ∂F/∂z becomes the roots of λ (Γ + M λ) = μ. They stay in the left half-plane only while
/// M (Im μ)² < −Γ² Re μ: coupling that rotates asks for a small mass.
struct Motion {
  double mass = 0;                     ///< M in τ²  [≥ 0]
  std::vector<double> friction = {1};  ///< Γ in τ of every node, or of each in their order  [≥ 0; 1 without a mass]
  bool stops = false;                  ///< a node that reaches a bound of its box loses its speed, as a mass does

  static Motion of_amplifiers(double lag) { return {lag, {1}}; }
  /// A mass of 1 whose friction of 2 damps a mode of −1 critically: it returns as fast as it can without swinging.
  static Motion critical() { return {1, {2}, true}; }

  bool first_order() const { return mass == 0; }
  bool uniform() const { return friction.size() == 1; }
  double mean_friction() const {
    return std::accumulate(friction.begin(), friction.end(), 0.0) / static_cast<double>(friction.size());
  }
  double least_friction() const { return *std::min_element(friction.begin(), friction.end()); }

  /// e^{−Γε/M}, the share of its speed that a node keeps in a step ε; 0 without a mass.
  double kept(double step, double gamma) const { return mass > 0 ? std::exp(-gamma * step / mass) : 0; }
  /// Speed that a force of 1 adds in a step: (1 − e^{−Γε/M})/Γ, and ε/M without friction.
  double gained(double step, double gamma) const {
    if (mass == 0) return 1;
    return gamma > 0 ? -std::expm1(-gamma * step / mass) / gamma : step / mass;
  }
  /// Step of Euler's method that is as stable: ε gained/(1 + kept) = (ε/Γ) tanh(Γε/2M). A mode −L of F is stable while L times this
  /// is below 2.
  double euler_step(double step) const {
    const double gamma = least_friction();
    return mass > 0 ? step * gained(step, gamma) / (1 + kept(step, gamma)) : step;
  }
  /// Step whose euler_step() this is: it grows with ε, as ε² at first.
  double step_like(double euler) const {
    if (mass == 0) return euler;
    double low = 0, high = 1;
    while (euler_step(high) < euler) high *= 2;
    for (int halving = 0; halving < 60; ++halving) {
      const double middle = (low + high) / 2;
      (euler_step(middle) < euler ? low : high) = middle;
    }
    return high;
  }
};

}  // namespace nudge
