// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/dynamics.hpp"

namespace nudge {

/// Growth penalty: keeps free phases convergent by penalising how fast what is left of their residual grows.
/// At the settled state z of one sequence, with step ε and norms over the sequence:
///     v = F(z)/‖F(z)‖,   y = (1 + ε J) v (repeated `iterations` times with renormalisation),   g = ‖y‖,   w = y/g
///     penalty = strength · relu(g − threshold)/B,   its gradient  strength · ε/B · ∂/∂θ ⟨w, J(z; θ) v⟩ at fixed z, v, w
/// in finite differences, so that it needs only forward reads and the usual outer products (η = probe · ‖z‖):
///     J v ≈ (F(z + ηv) − F(z − ηv))/2η;   gradients of ⟨±l w, F⟩ at z ± ηv with l = strength ε/(2ηB).
/// Where reads are noisy F is the mean of two and their difference measures its noise: a direction that is mostly noise is
/// not penalised. Its reads are of the class monitor. Embeddings and read-out get nothing. Source: measured on this model, threshold^T1 is what is left of the slow mode.
struct GrowthOptions {
  double strength = 0;      ///< λ; 0 = off
  double threshold = 0.85;  ///< ρ₀
  double probe = 1e-2;      ///< η/‖z‖
  int iterations = 0;       ///< power iterations before the measurement
};

struct GrowthReport {
  double growth = 0;     ///< g
  bool active = false;   ///< g > ρ₀
  bool drowned = false;  ///< what is left of the residual is below the noise it is read with: nothing was measured
};

template <class S>
class GrowthPenalty {
 public:
  explicit GrowthPenalty(const GrowthOptions& options) : options_(options) {}

  /// Measures g at z and, where active, adds the gradient with weight 1/sequences. Changes the linearisation.
  GrowthReport apply(Dynamics<S>& dynamics, ConstMatrixRef<S> z, double step, Index sequences, GradientSink<S>& sink);

 private:
  void grow(Dynamics<S>& dynamics, ConstMatrixRef<S> z, S eta, S step);

  GrowthOptions options_;
  Matrix<S> v_, y_, shifted_, forces_;
};

}  // namespace nudge
