// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "devices/step_kernel.hpp"

namespace nudge {

/// Pulse size that falls linearly with the conductance: one pulse moves a device by s f(g) with
///
///     f(g) = 1 − γ (g − g_ref)/(g_bound − g_ref),        q = γ s/(g_bound − g_ref)
///
/// towards its bound; γ = 0 is the constant step, γ = 1 soft bounds (no step left at the bound). Since f shrinks by the
/// factor 1 − q with each pulse, n pulses move the device by s f(g) (1 − (1 − q)ⁿ)/q: exact for every whole n and
/// continued to real n, so that a large request follows the curve and does not step across it. With every pulse
/// multiplied by 1 + σξ, the second moment of f shrinks by (1 − q)² + q²σ² per pulse, hence the exact variance
/// (s f)² ([(1 − q)² + q²σ²]ⁿ − (1 − q)²ⁿ)/q²; the sum of n pulses is drawn as one Gaussian with that mean and variance.
struct AffineStep {
  double gamma_up = 0;
  double gamma_down = 0;

  /// Largest q: beyond one pulse reaches the bound anyway (fewer than two pulses across the window).
  static constexpr double largest_q = 0.999;

  template <class S>
  struct Line {
    S f;
    S q;
  };

  template <class S>
  Line<S> line(const Element<S>& e, Direction direction) const {
    const S gamma = static_cast<S>(direction == Direction::up ? gamma_up : gamma_down);
    const S span = e.upper - e.reference;
    const S f = S(1) - gamma * (e.g - e.reference) / span;
    return {std::max(f, S(0)), std::min(gamma * e.step / span, static_cast<S>(largest_q))};
  }

  template <class S>
  S change(const Element<S>& e, Direction direction, S n) const {
    const Line<S> l = line(e, direction);
    if (l.q == 0) return e.step * l.f * n;
    return -e.step * l.f * std::expm1(n * std::log1p(-l.q)) / l.q;
  }

  template <class S>
  S noise(const Element<S>& e, Direction direction, S n, S sigma) const {
    const Line<S> l = line(e, direction);
    if (l.q == 0) return e.step * l.f * sigma * std::sqrt(n);
    const S shrink = S(2) * std::log1p(-l.q);
    const S ratio = l.q * sigma / (S(1) - l.q);
    const S growth = n * std::log1p(ratio * ratio);
    // exp(growth) − 1 = exp(growth) to the last bit of a double from growth = 37 on.
    const S variance = growth < S(37) ? std::exp(n * shrink) * std::expm1(growth) : std::exp(n * shrink + growth);
    return e.step * l.f * std::sqrt(variance) / l.q;
  }
};

}  // namespace nudge
