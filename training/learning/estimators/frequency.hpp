// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/estimators/free_phase.hpp"

namespace nudge {

/// Frequency propagation (Anisetti, Kandala, Scellier & Schwarz 2022, arXiv:2208.08862) in its small-signal form: the error ∂C/∂z flows
/// out of the outputs as a current at ω₂ = error_frequency, beside what the inputs bring about, and every element takes the product of the
/// two amplitudes that it sees. Of a state of capacitance τ the response to the error is
///     a = −Re (J − iω₂)⁻¹ ∂C/∂z
/// in phase, what a lock-in finds: for ω₂ → 0 and Jᵀ = J the adjoint, an error of (ω₂/λ)² in a mode of rate λ, the whole of the difference
/// of J and Jᵀ where elements are not reciprocal. The inputs are at rest (ω₁ = input_frequency = 0: the amplitude is the operating point's) or, of
/// a circuit that is linear in its sources, all of these swing at ω₁:  z₁ = −Re (J − iω₁)⁻¹ F(0), of which cost and products then are.
/// ω in 1/τ. No noise, no overtones: the limit of small currents. A system that solves itself does so (Direct::respond), others
/// by one dense LU of twice the columns of a state, of all rows together. Of a system with inertia J is D⁻¹ J, and what drives it D⁻¹ of itself.
///
/// With an oscillating nudge (Oscillation) the same is done as a circuit does it, in time and with its noise: the error −β ∂C/∂z swings at
/// ω₂, the sources at ω₁, and a lock-in at every node for each listens for `periods` periods of the slower one, after `settling`. The faster is
/// rounded to a whole number of steps, the slower so that its period is a whole number of periods of the faster, at least two: neither is then heard in
/// the other. Two runs where ω₁ > 0, as the error is of the amplitudes of the first. White noise falls with the root of the time.
template <class S>
class FrequencyEstimator final : public GradientEstimator<S> {
 public:
  explicit FrequencyEstimator(const EstimatorOptions& options) : GradientEstimator<S>(options) {}

  /// UserError for more than 4096 unknowns of a dense LU, for ω₁ > 0 of what is not linear, and in time for frequencies that steps do not follow or that are too near.
  SequenceReport estimate(Example<S>& example) override;

 private:
  using GradientEstimator<S>::options_;
  void respond(Example<S>& example, Linearization<S>& at, const Matrix<S>& drive, double omega, Matrix<S>& out);
  const Matrix<S>& sources(Example<S>& example);
  void swing(Example<S>& example);
  void start_lock_ins(double duration, const Matrix<S>& z);
  void run(Example<S>& example, S beta, SequenceReport& report);
  void listen(Example<S>& example, SequenceReport& report);

  FreePhase<S> free_;
  Matrix<S> cost_gradient_, rest_, force_, drive_, states_, moved_, flow_;
  LockIn<S> of_inputs_, of_error_;
};

}  // namespace nudge
