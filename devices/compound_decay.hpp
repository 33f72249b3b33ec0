// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Where `compound_decay` holds: q up to the first and n q up to the second.
constexpr double compound_decay_q = 1.0 / 32;
constexpr double compound_decay_nq = 4.0 / 3;

namespace compound_decay_detail {

constexpr double factorial(int k) { return k < 2 ? 1 : k * factorial(k - 1); }

/// 1/f(1) … 1/f(N)
template <class S, std::size_t N>
constexpr std::array<S, N> one_over(auto f) {
  std::array<S, N> out{};
  for (std::size_t k = 0; k < N; ++k) out[k] = static_cast<S>(1.0 / f(static_cast<int>(k) + 1));
  return out;
}

/// c₀ + c₁ x + c₂ x² + …
template <class S, std::size_t N>
S polynomial(const std::array<S, N>& c, S x) {
  S sum = c[N - 1];
  for (std::size_t k = N - 1; k-- > 0;) sum = c[k] + x * sum;
  return sum;
}

}  // namespace compound_decay_detail

/// out_i ← (1 − q_i)^n_i − 1 for `size` places, 0 ≤ q ≤ 1/32, n ≥ 0, n q ≤ 4/3: what is lost of 1 when it shrinks n times by
/// the share q. To 6 units of the last place; with log1p and expm1 (vectorised, Eigen 3.4) an update of soft-bounds pairs takes 1.4
/// times as long.
///
///     −ln(1 − q)/q = 1 + q/2 + q²/3 + …          5 terms in float (12 in double): the next is below q⁵/6 = 5e-9 (8e-20)
///     u = n ln(1 − q)/4,  |u| ≤ .34
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
