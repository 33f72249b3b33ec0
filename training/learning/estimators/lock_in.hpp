// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Form of the nudge of a phase: it stays, or it swings.
enum class NudgeForm { constant, oscillating };

/// An oscillating nudge β(t) = β sin ωt and the lock-in that listens to it. Times in τ.
struct Oscillation {
  NudgeForm form = NudgeForm::constant;
  double frequency = 0.1;    ///< ω, in 1/τ; rounded so that a period is a whole number of steps  [> 0]
  int periods = 4;           ///< periods that the lock-in listens to, T = 2π periods/ω  [≥ 1]
  int settling = 1;          ///< periods before that  [≥ 0]
  int harmonic = 1;          ///< highest odd harmonic H that is read  [odd, ≥ 1]
  double time_constant = 0;  ///< τ_c of a low-pass behind the product; 0: the mean over T  [≥ 0]
  double phase_error = 0;    ///< φ by which the reference runs ahead, in radians

  bool on() const { return form == NudgeForm::oscillating; }
};

/// A lock-in amplifier at every node. Of v = z − z* it returns
///     d = 2 Σ_n w_n r(ωt_n) v(t_n),      r(θ) = Σ_{k odd ≤ H} k sin k(θ + φ),
/// The weights are w_n = 1/T over whole periods, which stops all that stands still, or e^{(t_n − T)/τ_c} of a low-pass, normalised to Σ
/// w = 1. If the nodes follow the nudge at once, v = Σ_m c_m (β sin θ)^m. The odd part is Σ_k h_k sin kθ, and Σ_k k h_k is its slope by
/// θ at 0, β c_1. With the harmonics up to H the error is of order β^{H+2}, with H = 1 it is ¾ β³ c_3. H + 1 nudges that stand still at
/// Chebyshev points (nudged_estimators.hpp) have the same order: sin takes these values at as many equal steps.
///
/// From a linear response τ dv/dt = J v − β sin(ωt) g it returns d = β Re e^{−iφ} (J − iω)⁻¹ g. For ω → 0 this is β J⁻¹ g. A mode of
/// rate λ keeps the share 1/(1 + (ω/λ)²), less tan φ times ω/λ of it. White noise of spectral density S(ω) leaves in d the variance 2
/// S(ω)/T (H = 1).
///
/// The nudge of step n is held at its value in the middle of the step, and v is taken at its end. This removes the hold's delay of half
/// a step up to an error of order (ωh)²/24.
template <class S>
class LockIn {
 public:
  /// Steps of a period at least: a hold of 1/8 of a period loses (π/8)²/6 = 2.6 % of the amplitude.
  static constexpr int kCoarsest = 8;

  /// Steps of this duration h, in τ. UserError where a period has fewer than 8 of them, or no more than 2 H.
  void start(const Oscillation& oscillation, double duration, Index rows, Index cols);

  int steps() const { return (settling_ + periods_) * period_steps_; }  ///< in all
  int listened() const { return periods_ * period_steps_; }
  /// ω as rounded, 2π/(N h).
  double frequency() const;
  /// sin ωt in the middle of step n.
  double drive(int n) const;
  /// v after step n.
  void take(int n, ConstMatrixRef<S> v);

  /// d (rows, cols), after the last step.
  const Matrix<S>& output() const { return sum_; }
  /// Change ‖d_P − d_{P−1}‖/‖d_P‖ between the last two periods, each by itself: the rest of the transient, and noise. 1 after a
  /// single one.
  double change() const;

 private:
  double weight(int n) const;

  Oscillation how_;
  double duration_ = 1, total_weight_ = 1;
  int period_steps_ = 8, periods_ = 1, settling_ = 0;
  std::vector<double> reference_;  ///< 2 r of the steps of a period
  Matrix<S> sum_, period_, before_;
};

/// Displacement of the states by a nudge, and by their noise: sums over sequences, in squares of a unit of the state. With nudges β_k
/// and the states z_k that the estimator takes (or their averages),
///     v = β Σ_k β_k (z_k − z*)/Σ_k β_k²,      β the nudge that the estimator is named by,
/// is the displacement of β by the straight line through the phases; of independent noise of variance s² in every z_k
///     ⟨v²⟩ = v̄² + s² β²/Σβ_k².
/// s² is half the mean square of the difference of two such phases, from the same z* and with the same β_k. It contains all effects of
/// noise on its way through couplings, amplifiers and averages. Adjoint and gradient are v/β. Noise that is independent between nodes
/// leaves them a cosine of v̄/√⟨v²⟩ (docs/reference/estimators.md).
struct NudgeSignal {
  double moved = 0;     ///< Σ mean square of v over the entries of a state, its noise included
  double counted = 0;   ///< sequences in it
  double node = 0;      ///< Σ s², mean over the entries of a state
  double in_moved = 0;  ///< Σ of the share of noise in the mean square of v
  double measured = 0;  ///< sequences in these two
  /// Ratio below which the displacement is too uncertain to go by. v̄² is a difference of two mean squares. Of nudges ±β, and n entries of
  /// independent noise in each state, its standard error is s²/√(2n): 0.3² s² at n = 62.
  static constexpr double resolved = 0.3;

  NudgeSignal& operator+=(const NudgeSignal& other);
  bool known() const { return counted > 0 && measured > 0; }
  double displacement() const;  ///< root mean square of v̄; 0 where its noise hides it
  double noise() const;         ///< s, root mean square
  /// Signal-to-noise ratio v̄/s of a state as the estimator takes it. It is 0 if v̄ is, infinite if only s is 0, NaN if
  /// it was not measured.
  double snr() const;
  /// v̄/√⟨v²⟩: what noise of the nodes leaves of the cosine of an adjoint.
  double cosine() const;
  /// The signal of a nudge `factor` times as large, while phases are linear: the displacement grows with it, the noise does not.
  NudgeSignal scaled(double factor) const;
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
