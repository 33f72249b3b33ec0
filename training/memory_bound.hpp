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

/// What was measured. norm is the estimate of ‖W_m‖₂ before any change, limit the largest norm allowed.
struct MemoryBoundResult {
  double norm = 0;
  double limit = 0;
  double scale = 1;    ///< limit/norm when norm > limit, else 1
  bool bound = false;  ///< delta was written and is not zero
};

/// Keeps the Hopfield memory inside its clamp. E_mem = −Σ relu(z W_m)² has curvature down to −2‖W_m‖₂², the clamp and
/// the damping give 1 + s·c: above that the energy is unbounded below. Enforced after a step: 2‖W_m‖₂² ≤ φ(1 + s·c).
///
/// ‖W_m‖₂ comes from power iterations y = u W/‖u W‖, σ = ‖y Wᵀ‖, u ← y Wᵀ/σ, with u (1, C) kept from step to step:
/// weights move little per step, so the iterations add up over training. σ is never above ‖W_m‖₂ (but for rounding). An
/// estimate σ = r‖W_m‖₂ lets 2‖W_m‖₂² reach φ(1 + s·c)/r²: with φ = .5 the clamp itself still holds for any r > .71.
/// On random matrices (64, 256), the hardest case as no direction stands out, 2 cold iterations gave r ≥ .79 over 20
/// seeds, and 20 steps later r ≥ .98.
template <class S>
class MemoryBound {
 public:
  /// `seed` chooses the first u. UserError on options that break the ranges above.
  MemoryBound(Index channels, const MemoryBoundOptions& options, std::uint64_t seed);

  /// Measures w_m (C, M), a view of its columns of the input array, and when it is too large writes
  /// delta = (scale − 1) W_m, else leaves delta alone. A w_m that is not finite gives such a norm and no change.
  MemoryBoundResult enforce(ConstMatrixRef<S> w_m, double feedback_scale, double damping, MatrixRef<S> delta);

  /// u, for checkpoints.
  std::vector<StateArray<S>> state();

 private:
  MemoryBoundOptions options_;
  Matrix<S> direction_;  ///< u (1, C), unit length
  Matrix<S> image_;      ///< y (1, M)
  Matrix<S> next_;       ///< the next u
};

}  // namespace nudge
