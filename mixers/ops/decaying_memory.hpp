// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include "sim/base/matrix.hpp"

namespace nudge {

/// eˣ/(eˣ + eʸ) from d = x − y.
template <class S>
S share(S d) {
  const S e = std::exp(-std::abs(d));
  return d >= S(0) ? S(1) / (S(1) + e) : e / (S(1) + e);
}

/// A memory of N cells and C channels with decay, and its two steps: what decaying_read() carries from token to token.
template <class S>
struct DecayingMemory {
  DecayingMemory() = default;
  DecayingMemory(Index cells, Index channels);  ///< empty

  Matrix<S> log_mass;                    ///< ℓ (N, 1)
  Matrix<S> mean;                        ///< ν (N, C)
  Matrix<S> log_tilt;                    ///< Λ (N, C)
  Matrix<S> log_mass_low, log_tilt_low;  ///< what their rounding has lost

  /// Decays by g (N) and takes in a token with weights b, values v and β v (C).
  void absorb(const S* g, const S* log_b, const S* v, const S* beta_v);
  /// Writes μ and F (C each); log_direct is null or the token's own direct weight.
  void read(const S* log_a, const S* beta, const S* log_direct, const S* v, S* mu, S* free_energy) const;
};

}  // namespace nudge
