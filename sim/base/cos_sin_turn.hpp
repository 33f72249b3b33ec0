// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nudge {
namespace {

/// Integer type as wide as a floating-point type, its width and mantissa in bits, and the Taylor terms that cos_sin_turn() takes.
template <class S>
struct FloatBits;
template <>
struct FloatBits<float> {
  using Int = std::uint32_t;
  static constexpr int kBits = 32, kMantissa = 23, kTerms = 5;
};
template <>
struct FloatBits<double> {
  using Int = std::uint64_t;
  static constexpr int kBits = 64, kMantissa = 52, kTerms = 8;
};

/// Cosine and sine of 2π u for u in (0, 1). With q the nearest quarter turn and x = 2π u − q π/2 in [−π/4, π/4], their Taylor
/// polynomials are taken. The first term left out is at most (π/4)^11/11! = 1.8e-9 and (π/4)^12/12! = 1.1e-10 in float, and
/// (π/4)^17/17! = 4.6e-17 and (π/4)^18/18! = 2.1e-18 in double: below half a rounding unit. No branches, no library call, and
/// local to the source that includes it (philox_kernel.hpp).
template <class S>
inline void cos_sin_turn(S u, S& cosine, S& sine) {
  using Bits = typename FloatBits<S>::Int;
  constexpr int kTerms = FloatBits<S>::kTerms;
  // u 4 + 1.5 · 2^p (p: mantissa bits) rounds to the nearest integer and leaves it in the low bits.
  constexpr S kRound = S(1.5) * static_cast<S>(Bits(1) << FloatBits<S>::kMantissa);
  const S shifted = 4 * u + kRound;
  const auto quarter = __builtin_bit_cast(Bits, shifted);
  const S x = (4 * u - (shifted - kRound)) * S(1.57079632679489661923);
  const S y = x * x;
  S s = 0;
  S c = 0;
  for (int k = kTerms; k > 0; --k) {  // Horner: 1 − y/(2·3) (1 − y/(4·5) (...)) and 1 − y/(1·2) (1 − y/(3·4) (...))
    s = 1 - y * (S(1) / static_cast<S>(2 * k * (2 * k + 1))) * (k == kTerms ? S(1) : s);
    c = 1 - y * (S(1) / static_cast<S>(2 * k * (2 * k - 1))) * (k == kTerms ? S(1) : c);
  }
  s *= x;
  const bool swap = (quarter & 1U) != 0;
  constexpr int kSign = FloatBits<S>::kBits - 1;
  const Bits sine_sign = (quarter >> 1U) << kSign;
  const Bits cosine_sign = ((quarter + 1U) >> 1U) << kSign;
  cosine = __builtin_bit_cast(S, __builtin_bit_cast(Bits, swap ? s : c) ^ cosine_sign);
  sine = __builtin_bit_cast(S, __builtin_bit_cast(Bits, swap ? c : s) ^ sine_sign);
}

}  // namespace
}  // namespace nudge
