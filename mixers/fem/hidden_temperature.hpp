// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace nudge {

/// The temperature that the inner gate stands for (Lu & Yang, "Free Energy Mixer", section 2.3.1 and appendix F.3): β* in [0, β_max] with
///     F(β*) = (1 − λ) μ + λ F(β_max),   F(β) = (1/β) log Σ p_i e^{β v_i}.
/// The two sides agree in value only: the gradient of the gated read with respect to v is (1 − λ) p + λ q_{β_max}, not
/// q_{β*}.
struct HiddenTemperature {
  double mean;                    ///< μ = F(0)
  double free_energy;             ///< F(β_max)
  double gated;                   ///< (1 − λ) μ + λ F(β_max)
  double beta;                    ///< β*
  double slope;                   ///< dF/dβ at β*: KL(q_{β*}‖p)/β*², Var_p(v)/2 at β* = 0
  double beta_slope;              ///< dβ*/dλ = (F(β_max) − μ)/slope
  std::vector<double> posterior;  ///< q_{β*} ∝ p e^{β* v}
};

/// p (N) sums to one, v (N), β_max > 0, λ in [0, 1]. Bisection; β* is accurate to rounding also for tiny λ, because F −
/// μ is summed from terms without cancellation.
HiddenTemperature hidden_temperature(const std::vector<double>& p, const std::vector<double>& v, double beta_max,
                                     double lambda);

}  // namespace nudge
