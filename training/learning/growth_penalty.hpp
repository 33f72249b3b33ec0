// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/dynamics.hpp"
#include "training/data/batches.hpp"

namespace nudge {

/// Growth penalty: keeps free phases convergent by penalising how fast the remaining residual grows. At the settled
/// state z of one sequence, with step ε and norms over the sequence:
///     v = F(z)/‖F(z)‖,   y = (1 + ε J) v (repeated `iterations` times with renormalisation),   g = ‖y‖,   w = y/g
///     penalty = strength · relu(g − threshold)/B,   its gradient  strength · ε/B · ∂/∂θ ⟨w, J(z; θ) v⟩ at fixed z, v, w
/// Both are formed by finite differences, which need only forward reads and the usual outer products (η = probe · ‖z‖):
///     J v ≈ (F(z + ηv) − F(z − ηv))/2η;   gradients of ⟨±l w, F⟩ at z ± ηv with l = strength ε/(2ηB).
/// If reads are noisy, F is the mean of two, and their difference measures its noise. A direction that is mostly noise
/// is not penalised. Its reads are of the class monitor. Embeddings and read-out get no gradient. Source: measured on
/// this model; the slow mode shrinks to threshold^T1 of itself.
///
/// Independent samples, such as the rows of a layered Hopfield network, have no residual in common. With `samples` each
/// has its own v, η and g, and the penalty is strength · Σ_t relu(g_t − threshold)/N over the N rows of the batch that
/// count. In a box (sim/box.hpp) F is m ⊙ F, and a unit that a probe z ± ηv would take out of its box counts as held.
struct GrowthOptions {
  double strength = 0;      ///< λ; 0 = off
  double threshold = 0.85;  ///< ρ₀
  double probe = 1e-2;      ///< η/‖z‖
  int iterations = 0;       ///< power iterations before the measurement
  bool samples = false;     ///< apply also to independent samples, each for itself
};

struct GrowthReport {
  double growth = 0;   ///< g; for independent samples its mean over the rows that count
  double active = 0;   ///< 1 where g > ρ₀; for independent samples the share of rows
  double drowned = 0;  ///< 1 where the remaining residual is below the noise of its reads: nothing was measured
};

template <class S>
class GrowthPenalty {
 public:
  explicit GrowthPenalty(const GrowthOptions& options) : options_(options) {}

  /// Measures g at z and, where active, adds the gradient with weight 1/sequences. Changes the linearisation.
  GrowthReport apply(Dynamics<S>& dynamics, ConstMatrixRef<S> z, double step, Index sequences, GradientSink<S>& sink);

  /// Applies the penalty to the rows of an example as independent samples, with weight 1/N each.
  GrowthReport apply_rows(Dynamics<S>& dynamics, ConstMatrixRef<S> z, double step, const Batch& batch, Index example,
                          GradientSink<S>& sink);

 private:
  void grow(Dynamics<S>& dynamics, ConstMatrixRef<S> z, S eta, S step);
  void begin_rows(Dynamics<S>& dynamics, ConstMatrixRef<S> z, const Batch& batch, Index example, GrowthReport& report);
  void direct_rows(const Dynamics<S>& dynamics, ConstMatrixRef<S> z);
  void shift_rows(ConstMatrixRef<S> z);
  void grow_rows(Dynamics<S>& dynamics, S step);

  GrowthOptions options_;
  Matrix<S> v_, y_, shifted_, forces_;
  Matrix<S> moving_;    ///< m of independent samples, 0 for units that are held
  std::vector<S> eta_;  ///< η of each row
};

}  // namespace nudge
