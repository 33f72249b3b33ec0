// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// How far a nudge moves the states of its phases, and how far their noise does: sums over sequences, in squares of a unit of the
/// state. With nudges β_k and the states z_k that the estimator takes (averages, where it averages),
///     v = β Σ_k β_k (z_k − z*)/Σ_k β_k²,      β the nudge that the estimator is named by,
/// is the displacement of β by the straight line through the phases; of independent noise of variance s² in every z_k
///     ⟨v²⟩ = v̄² + s² β²/Σβ_k².
/// s² is half the mean square of the difference of two such phases, from the same z* and with the same β_k: whatever noise does to the
/// states on its way through couplings, amplifiers and averages is in it. Adjoint and gradient are v/β, so that what noise leaves of
/// their cosine is v̄/√⟨v²⟩ where it is independent between nodes (docs/estimators.md).
struct NudgeSignal {
  double moved = 0;     ///< Σ mean square of v over the entries of a state, its noise included
  double counted = 0;   ///< sequences in it
  double node = 0;      ///< Σ s², mean over the entries of a state
  double in_moved = 0;  ///< Σ of the share of noise in the mean square of v
  double measured = 0;  ///< sequences in these two

  NudgeSignal& operator+=(const NudgeSignal& other);
  bool known() const { return counted > 0 && measured > 0; }
  double displacement() const;  ///< root mean square of v̄; 0 where its noise hides it
  double noise() const;         ///< s, root mean square
  /// v̄/s of a state as the estimator takes it: 0 where v̄ is, infinite where only s is 0; NaN where it was not measured.
  double snr() const;
  /// v̄/√⟨v²⟩: what noise of the nodes leaves of the cosine of an adjoint.
  double cosine() const;
};

/// Adds the displacement v of the states (k·rows, cols) from z (rows, cols), which is left in `displacement`.
template <class S>
void add_displacement(const Matrix<S>& states, const Matrix<S>& z, const std::vector<double>& betas, double beta,
                      Matrix<S>& displacement, NudgeSignal& signal);

/// Adds the noise of such states, of which `again` is another realisation.
template <class S>
void add_noise(const Matrix<S>& states, const Matrix<S>& again, const std::vector<double>& betas, double beta,
               NudgeSignal& signal);

}  // namespace nudge
