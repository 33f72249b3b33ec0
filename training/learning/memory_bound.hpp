// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "circuits/linear_map.hpp"

namespace nudge {

struct MemoryBoundOptions {
  double fraction = 0.5;  ///< φ in (0, 1): of the clamp 1 + s·c; 1 would be the very border of stability
  int iterations = 2;     ///< power iterations per training step, ≥ 1
};

/// What was measured. norm is the estimate of ‖W_m‖₂ before any change, or of √(‖W_m‖₂‖R‖₂) for a memory on two arrays,
/// limit the largest norm allowed.
struct MemoryBoundResult {
  double norm = 0;
  double limit = 0;
  double scale = 1;    ///< what W_m, and R, must be multiplied by: limit/norm when norm > limit, else 1
  bool bound = false;  ///< scale < 1
};

/// Keeps the Hopfield memory inside its clamp. E_mem = −Σ relu(z W_m)² has curvature down to −2‖W_m‖₂², the clamp and
/// the damping give 1 + s·c: above that the energy is unbounded below. Enforced after a step: 2‖W_m‖₂² ≤ φ(1 + s·c).
///
/// A memory on two arrays returns through R (M, C), nominally W_mᵀ: its force 2 relu(z W_m) R has a Jacobian of norm up to
/// 2‖W_m‖₂‖R‖₂ whatever the gates, so that product takes the place of ‖W_m‖₂², and both arrays are scaled by the same factor.
///
/// ‖W_m‖₂ comes from power iterations y = u W/‖u W‖, σ = ‖y Wᵀ‖, u ← y Wᵀ/σ, with u (1, C) kept from step to step:
/// weights move little per step, so the iterations add up over training. σ is never above ‖W_m‖₂ (but for rounding). An
/// estimate σ = r‖W_m‖₂ lets 2‖W_m‖₂² reach φ(1 + s·c)/r²: with φ = .5 the clamp itself still holds for any r > .71.
/// On random matrices (64, 256), the hardest case as no direction stands out, 2 cold iterations gave r ≥ .79 over 20
/// seeds, and 20 steps later r ≥ .98.
template <class S>
class MemoryBound {
 public:
  /// `seed` chooses the first u. `return_memories`: M for a memory on two arrays, 0 for one. UserError on options that break
  /// the ranges above.
  MemoryBound(Index channels, const MemoryBoundOptions& options, std::uint64_t seed, Index return_memories = 0);

  /// Measures w_m (C, M) and, for a memory on two arrays, back (M, C); null for one. Norms that are not finite bound nothing.
  MemoryBoundResult measure(ConstMatrixRef<S> w_m, const Matrix<S>* back, double feedback_scale, double damping);

  /// For one array: measures w_m, a view of its columns of the input array, and when it is too large writes
  /// delta = (scale − 1) W_m, else leaves delta alone. A w_m that is not finite gives such a norm and no change.
  MemoryBoundResult enforce(ConstMatrixRef<S> w_m, double feedback_scale, double damping, MatrixRef<S> delta);

  /// u, and that of R, for checkpoints.
  std::vector<StateArray<S>> state();

 private:
  double spectral_norm(ConstMatrixRef<S> w, Matrix<S>& direction);

  MemoryBoundOptions options_;
  Matrix<S> direction_;         ///< u (1, C), unit length
  Matrix<S> return_direction_;  ///< that of R (1, M); empty for one array
  Matrix<S> image_;             ///< y
  Matrix<S> next_;              ///< the next u
};

}  // namespace nudge
