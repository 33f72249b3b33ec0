// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "devices/step_kernel.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Pulse size that falls linearly with the conductance: one pulse moves a device by s f(g) with
///
///     f(g) = 1 − γ (g − g_ref)/(g_bound − g_ref),        q = γ s/(g_bound − g_ref)
///
/// towards its bound; γ = 0 is the constant step, γ = 1 soft bounds (no step left at the bound). f shrinks by the factor
/// 1 − q with each pulse, so n pulses move the device by s f(g) (1 − (1 − q)ⁿ)/q. This is exact for every whole n and
/// continued to real n: a large request follows the curve and does not step across it. With every pulse multiplied by 1
/// + σξ, the second moment of f shrinks by (1 − q)² + q²σ² per pulse. Hence the exact variance (s f)² ([(1 − q)² +
/// q²σ²]ⁿ − (1 − q)²ⁿ)/q². The sum of n pulses is drawn as one Gaussian with this mean and variance.
struct AffineStep {
  double gamma_up = 0;
  double gamma_down = 0;

  template <class S>
  S change(const Element<S>& e, Direction direction, S n) const;
  /// One cell: the whole window. None where the change would turn around within it, γ > 1.
  std::vector<StraightCell> straight_cells(const Element<double>& e, Direction direction) const;
  template <class S>
  S noise(const Element<S>& e, Direction direction, S n, S sigma) const;
  /// Mean change and noise of a whole chunk, by the formulas of change() and noise(); the series is used where all places
  /// allow it. With D = (1 − (1 − q)ⁿ)/q the move is s f D. Noise of standard deviation `floor` s in every pulse shrinks by 1
  /// − q with each later pulse. It adds (floor s)² Σ_{k<n} (1 − q)²ᵏ = (floor s)² D (2 − q D)/(2 − q) to the variance.
  template <class S>
  void moves(const ElementChunk<S>& chunk, S sigma, S floor, ChunkArray<S>& change, ChunkArray<S>& noise) const;
};
static_assert(ChunkRule<AffineStep, float> && ChunkRule<AffineStep, double>);

/// Limits of compound_decay(): q up to the first and n q up to the second.
constexpr double compound_decay_q = 1.0 / 32;
constexpr double compound_decay_nq = 4.0 / 3;

namespace compound_decay_detail {

constexpr double factorial(int k) { return k < 2 ? 1 : k * factorial(k - 1); }

/// Array of 1/f(1) … 1/f(N).
template <class S, std::size_t N>
constexpr std::array<S, N> one_over(auto f) {
  std::array<S, N> out{};
  for (std::size_t k = 0; k < N; ++k) out[k] = static_cast<S>(1.0 / f(static_cast<int>(k) + 1));
  return out;
}

/// Polynomial c₀ + c₁ x + c₂ x² + …
template <class S, std::size_t N>
S polynomial(const std::array<S, N>& c, S x) {
  S sum = c[N - 1];
  for (std::size_t k = N - 1; k-- > 0;) sum = c[k] + x * sum;
  return sum;
}

}  // namespace compound_decay_detail

/// out_i ← (1 − q_i)^n_i − 1 for `size` places, 0 ≤ q ≤ 1/32, n ≥ 0, n q ≤ 4/3: the loss of 1 when it shrinks n times by the share q.
/// To 6 units of the last place; with log1p and expm1 (vectorised, Eigen 3.4) an update of soft-bounds pairs takes 1.4 times as long.
///
///     −ln(1 − q)/q = 1 + q/2 + q²/3 + …          5 terms in float (12 in double): the next is below q⁵/6 = 5e-9 (8e-20)
///     u = n ln(1 − q)/4,  |u| ≤ 0.34
///     eᵘ − 1 = u + u²/2! + …                     7 terms (14): the next is below u⁷/8! = 1.3e-8 (2e-19) of the sum
///     e²ᵘ − 1 = (eᵘ − 1)(2 + (eᵘ − 1)),          twice; an error of eᵘ − 1 < 0 relative to itself does not grow
template <class S>
void compound_decay(const S* __restrict q, const S* __restrict n, Index size, S* __restrict out) {
  using namespace compound_decay_detail;
  constexpr std::size_t log_terms = sizeof(S) == 4 ? 5 : 12;
  constexpr std::size_t exp_terms = sizeof(S) == 4 ? 7 : 14;
  static constexpr auto log_series = one_over<S, log_terms>([](int k) { return k; });
  static constexpr auto exp_series = one_over<S, exp_terms>(factorial);
  for (Index i = 0; i < size; ++i) {
    const S u = S(-0.25) * n[i] * q[i] * polynomial(log_series, q[i]);
    S lost = u * polynomial(exp_series, u);
    lost *= S(2) + lost;
    lost *= S(2) + lost;
    out[i] = lost;
  }
}

}  // namespace nudge
