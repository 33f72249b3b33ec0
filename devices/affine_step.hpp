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

  template <class S>
  S change(const Element<S>& e, Direction direction, S n) const;
  template <class S>
  S noise(const Element<S>& e, Direction direction, S n, S sigma) const;
  /// change and noise of a whole chunk by the same formulas; the series is used where all places allow it. With
  /// D = (1 − (1 − q)ⁿ)/q the move is s f D. Noise of standard deviation `floor` s in every pulse, which the pull of f shrinks by
  /// 1 − q with each later one, adds (floor s)² Σ_{k<n} (1 − q)²ᵏ = (floor s)² D (2 − q D)/(2 − q) to the variance.
  template <class S>
  void moves(const ElementChunk<S>& chunk, S sigma, S floor, ChunkArray<S>& change, ChunkArray<S>& noise) const;
};
static_assert(ChunkRule<AffineStep, float> && ChunkRule<AffineStep, double>);

}  // namespace nudge
