// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "circuits/linear_map.hpp"
#include "sim/config/section.hpp"

namespace nudge {

/// One number of a component's internal state for checkpoints; writing through `value` restores it.
struct ScalarState {
  std::string name;
  std::string unit;
  std::string description;
  double* value;
};

/// Result of a training step that controllers look at.
struct Observation {
  std::uint64_t step = 0;  ///< training step
  double step_residual = 0;  ///< ρ = ε‖F‖/‖z‖ at the end of the free phase: the relative change of one more step
  bool skipped = false;      ///< the step was skipped as an outlier or rejected as not finite
};

/// Change that a controller made, for the log.
struct ControlEvent {
  std::uint64_t step = 0;
  std::string quantity;  ///< name of the changed quantity: "damping"
  double before = 0;
  double after = 0;
  std::string reason;
};

/// Thresholds, rates and bounds of the damping control. The defaults are the recipe that our prototype trained with.
/// Much faster or stricter settings end in a death spiral, because the signal falls as 1/(1 + s·c) while c rises.
struct DampingOptions {
  double initial = 1.0;       ///< c before the first step, within the bounds
  double high = 1.5e-2;       ///< raise when ρ > high
  double low = 5e-3;          ///< lower when ρ < low; 0 ≤ low < high
  double raise = 1.02;        ///< c ← raise · c, ≥ 1
  double lower = 0.995;       ///< c ← lower · c, in (0, 1]
  int patience = 1;           ///< raise only after this many steps in a row with ρ > high, ≥ 1
  bool raise_on_skip = true;  ///< a skipped step counts as ρ > high, whatever its residual
  double minimum = 0.05;      ///< bounds of c; 0 ≤ minimum ≤ maximum
  double maximum = 20.0;
};

/// Feedback-regulated damping c of the force −s·c·z. Per step, with ρ = ε‖F‖/‖z‖ of the free phase:
///   ρ > high (or not finite): one more in the row; at `patience` in a row c ← min(raise·c, maximum), the row restarts
///   ρ < low:                  c ← max(lower·c, minimum), the row ends
///   else:                     c is kept, the row ends (the hysteresis band)
/// A bound that leaves c unchanged makes no event. UserError on options that break the ranges above.
class DampingController {
 public:
  explicit DampingController(const DampingOptions& options);

  /// Present c; the caller hands it to the model.
  double value() const { return damping_; }
  /// Looks at one training step (each step once, in order) and may change c for the next.
  std::optional<ControlEvent> observe(const Observation& observation);
  std::vector<ScalarState> state();

 private:
  std::optional<ControlEvent> set(double damping, const Observation& observation, std::string reason);

  DampingOptions options_;
  double damping_;
  double high_in_a_row_ = 0;
};

struct MemoryBoundOptions {
  double fraction = 0.5;  ///< φ in (0, 1), share of the clamp 1 + s·c; 1 would be the very border of stability
  int iterations = 2;     ///< power iterations per training step, ≥ 1
};

/// Measured norm and limit of a memory. norm is the estimate of ‖W_m‖₂ before any change. For a memory on two arrays it
/// is √(‖W_m‖₂‖R‖₂). limit is the largest norm allowed.
struct MemoryBoundResult {
  double norm = 0;
  double limit = 0;
  double scale = 1;    ///< factor for W_m, and R: limit/norm when norm > limit, else 1
  bool bound = false;  ///< true if scale < 1
};

/// Keeps the Hopfield memory inside its clamp. E_mem = −Σ relu(z W_m)² has curvature down to −2‖W_m‖₂²; the clamp and
/// the damping give 1 + s·c. Above this the energy is unbounded below. Enforced after a step: 2‖W_m‖₂² ≤ φ(1 + s·c).
///
/// A memory on two arrays returns through R (M, C), nominally W_mᵀ. Its force 2 relu(z W_m) R has a Jacobian of norm up
/// to 2‖W_m‖₂‖R‖₂ whatever the gates. So that product takes the place of ‖W_m‖₂², and both arrays are scaled by the
/// same factor.
///
/// ‖W_m‖₂ comes from power iterations y = u W/‖u W‖, σ = ‖y Wᵀ‖, u ← y Wᵀ/σ, with u (1, C) kept from step to step.
/// Weights move little per step, so the iterations add up over training. σ is never above ‖W_m‖₂ (but for rounding). An
/// estimate σ = r‖W_m‖₂ lets 2‖W_m‖₂² reach φ(1 + s·c)/r²: with φ = 0.5 the clamp itself still holds for any r > 0.71.
/// On random matrices (64, 256), the hardest case as no direction stands out, 2 cold iterations gave r ≥ 0.79 over 20
/// seeds, and 20 steps later r ≥ 0.98.
template <class S>
class MemoryBound {
 public:
  /// Makes the bound. `seed` chooses the first u. `return_memories`: M for a memory on two arrays, 0 for one. UserError
  /// on options that break the ranges above.
  MemoryBound(Index channels, const MemoryBoundOptions& options, std::uint64_t seed, Index return_memories = 0);

  /// Measures w_m (C, M) and, for a memory on two arrays, back (M, C); null for one. Norms that are not finite bound nothing.
  MemoryBoundResult measure(ConstMatrixRef<S> w_m, const Matrix<S>* back, double feedback_scale, double damping);

  /// Directions u for W_m and for R, for checkpoints.
  std::vector<StateArray<S>> state();

 private:
  double spectral_norm(ConstMatrixRef<S> w, Matrix<S>& direction);

  MemoryBoundOptions options_;
  Matrix<S> direction_;         ///< u (1, C), unit length
  Matrix<S> return_direction_;  ///< direction u for R, (1, M); empty for one array
  Matrix<S> image_;             ///< y
  Matrix<S> next_;              ///< the next u
};

/// Options of the sections [damping] and [memory_bound], which keep a block settling while it learns.
struct StabiliserOptions {
  bool control = {};  ///< true if damping is regulated
  DampingOptions damping;
  MemoryBoundOptions memory;
};
const Section<StabiliserOptions>& stabiliser_section();

}  // namespace nudge
