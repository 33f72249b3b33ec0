// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "circuits/sample_hold.hpp"
#include "circuits/terms/term.hpp"
#include "sim/nudged_law.hpp"
#include "sim/read_timing.hpp"
#include "sim/settle.hpp"
#include "training/learning/cost.hpp"
#include "training/learning/estimators/lock_in.hpp"

namespace nudge {

/// Nudged phases of an estimator. centered: a = (z₋ − z₊)/2β, error O(β²). positive: a = (z* − z₊)/β and negative: a = (z₋ − z*)/β,
/// error O(β). random draws one of these two for every batch; their errors cancel in the mean. Sources: Scellier and Bengio 2017,
/// arXiv:1602.05179, section 4; Laborieux et al. 2021, arXiv:2006.03824.
enum class NudgeSides { centered, positive, negative, random };

/// Settings shared by the estimators. Times in τ, β per token (it multiplies the cost summed over a sequence's tokens).
struct EstimatorOptions {
  SettleOptions free;     ///< the free phase
  double step = 0.3;      ///< ε of the nudged phases and of the linear iterations
  int nudged_steps = 30;  ///< T2
  double beta = 1e-4;     ///< nudge per token; 0 in a config: default_beta
  NudgeSides sides = NudgeSides::centered;
  Oscillation oscillation = {};      ///< ep, ep_anchored, aep*: a nudge that swings, instead of T2 steps and sides
  int points = 4;                    ///< aep_npoint: number of nudged states N, even
  bool frozen_cost = false;          ///< ep*, aep*: the cost's current at z*, held while nudged
  double clip = 0;                   ///< aep: clip of the correction, elementwise; 0 = none
  int average_nudged = 1;            ///< mean of the last n states of each nudged phase (against read noise)
  double input_frequency = 0;        ///< frequency: ω₁ of the inputs, in 1/τ; 0: inputs at rest
  double error_frequency = 0.01;     ///< frequency: ω₂ of the error
  double adjoint_tolerance = 1e-10;  ///< implicit: relative residual of Jᵀ a = −∂C/∂z
  int adjoint_iterations = 400;      ///< implicit: GMRES iterations at most
  double clock_error = 0;            ///< echo: relative error of the time of its steps
  double running_mean = 0;           ///< m of the running mean of gradients that finish() takes; 0: none
  NudgedDrive drive = NudgedDrive::state;            ///< aep_transposed: drive of the memory's arrays in nudged phases
  bool below_rounding = false, below_noise = false;  ///< allow a nudge whose gradient is rounding, or noise, alone
};

/// Phase that a settling state belongs to.
enum class Phase { free, nudged };

template <class S>
struct Example;
template <class S>
class GradientEstimator;

/// Observer of the learning of one example.
template <class S>
class PhaseWatch {
 public:
  virtual ~PhaseWatch() = default;
  /// Called with the state (copies side by side) after so many steps of a phase that settle() makes; 0: at its start.
  virtual void step(Phase phase, ConstMatrixRef<S> z, int steps) = 0;
  /// Called where bptt adds scale · ⟨u, ∂F/∂θ⟩ to its gradient, from the last step of the free phase to the first.
  virtual void pull(Linearization<S>& at, ConstMatrixRef<S> u, S scale) = 0;
  /// Called when the gradient is estimated.
  virtual void end(Example<S>& example, GradientEstimator<S>& estimator) = 0;
};

/// Example to learn from: a sequence, or independent samples side by side. The state enters as z_0 and leaves as z*.
template <class S>
struct Example {
  Dynamics<S>* dynamics;
  Cost<S>* cost;
  Matrix<S>* state;                   ///< (rows, cols)
  Matrix<S>* initial_state_gradient;  ///< (rows, cols): += weight · dC/dz_0 where the estimator sees it (bptt)
  S weight;                           ///< share of this sequence in the batch's mean cost: 1/(B·T)
  GradientSink<S>* sink;
  CorrectionFilter<S>* filter = nullptr;  ///< imperfection of the correction in the nudged phases; null: ideal
  SampleHold<S>* hold = nullptr;          ///< circuit that keeps z* and the nudged states; null: kept as they are
  bool measures_noise = false;            ///< nudged phases run twice to measure their noise (NudgeSignal)
  double sign = 1;                        ///< sign of β where sides are random, ±1, the same for a batch
  Matrix<S>* kept =
      nullptr;  ///< (rows, keeps()): numbers that the estimator keeps of each sample, read and written; null: none
  const std::vector<char>* visited = nullptr;  ///< for each row of `kept`: true if the sample was there before
  PhaseWatch<S>* watch = nullptr;              ///< null: no observer
};

/// Begins the reads of a nudged phase, of dynamics and cost. Returns their timing: a step lasts its duration.
template <class S>
ReadTiming begin_nudged_reads(Example<S>& example, const EstimatorOptions& options) {
  const ReadTiming timing = euler_timing(options.step, example.dynamics->leak(), options.free.motion);
  example.dynamics->begin_reads(ReadClass::nudged);
  example.dynamics->set_read_timing(timing);
  example.cost->set_read_timing(timing);
  return timing;
}

/// Asks for computed gradients, without reads: derivatives of the simulated circuit (backprop, implicit
/// differentiation).
template <class S>
void compute_derivatives(Example<S>& example) {
  example.dynamics->use_exact_derivatives(true);
  example.cost->use_exact_derivatives(true);
}

/// Size of an adjoint, also relative to its drive.
struct AdjointSize {
  double norm = 0;  ///< ‖a‖
  double gain = 0;  ///< ‖a‖/‖∂C/∂z‖: bounded by ‖J⁻¹‖ if there is an equilibrium; 0 without a nudge
};

/// Outcome of one sequence.
struct SequenceReport {
  SettleResult free;
  double loss = 0;  ///< Σ_t C_t at the free equilibrium
  /// diverged: a nudged state left the finite numbers or goes to and fro. converged: nudged_residual ≤ 1e-2. Else max_steps.
  Status nudged = Status::converged;
  double nudged_residual = 0;  ///< ‖f_nudged‖ / ‖z − z*‖ at the end: the rest of the nudged transient, per τ
  double nudged_time = 0;      ///< simulated time of the nudged phases, one after the other, in units of τ
  double nudge_ratio = 0;      ///< ‖z − z*‖ / ‖z*‖: size of the nudge
  NudgeSignal signal = {};     ///< size of the nudge beside the noise of the states
  AdjointSize adjoint;         ///< 0 where the estimator forms none
  bool left_out = false;       ///< its adjoint was beyond the limits; the sequence adds nothing to the gradient
  long clipped = 0;            ///< entries of the correction on which the clip was active, summed over steps
  double cost_in_forces = 0;   ///< work in force evaluations: a jvp or vjp counts as one
};

/// Makes a gradient from phases: settles the sequence, estimates the adjoint a ≈ dC/dx_in, and correlates ⟨a, ∂F/∂θ⟩
/// into the sink. It knows nothing of devices. One object per thread.
template <class S>
class GradientEstimator {
 public:
  explicit GradientEstimator(const EstimatorOptions& options) : options_(options) {}
  virtual ~GradientEstimator() = default;
  virtual SequenceReport estimate(Example<S>& example) = 0;

  /// Number of states evaluated side by side; dynamics and cost must hold that many copies.
  virtual Index copies() const { return 2; }

  /// Number of values kept of every sample from visit to visit (Example::kept), in checkpoints, the same for any threads and ranks.
  virtual Index keeps() const { return 0; }

  /// Number of matrices kept from batch to batch in the shape of every parameter (finish()), also in checkpoints, whatever the
  /// threads.
  virtual Index parameter_matrices() const { return options_.running_mean > 0 ? 1 : 0; }

  /// Changes the gradient of one parameter, summed over a batch from which a training learns (no step is left out), and its kept matrices, zero at first.
  /// `before`: number of batches finished before. Called by one thread where matrices are kept. The default is the running mean, m = nudge.running_mean,
  ///     ḡ ← m ḡ + (1 − m) g,     g ← ḡ/(1 − m^(before + 1))     (bias-corrected as in Kingma and Ba, arXiv:1412.6980, algorithm 1)
  virtual void finish(double before, Matrix<S>& gradient, std::span<Matrix<S>> kept) {
    const double m = options_.running_mean;
    kept[0] = static_cast<S>(m) * kept[0] + static_cast<S>(1 - m) * gradient;
    gradient = static_cast<S>(1 / (1 - std::pow(m, before + 1))) * kept[0];
  }

  /// Adds a gradient to the sink: nudged states side by side (k·rows, cols) give it, with the z* of the last estimate. Returns false if the
  /// estimator's gradient comes from no such states.
  virtual bool correlate(Example<S>& /*example*/, const Matrix<S>& /*nudged*/, GradientSink<S>& /*sink*/) {
    return false;
  }

  /// Adjoint of the last estimate for the cost summed over tokens, (rows, cols). Empty for bptt before the last step.
  const Matrix<S>& adjoint() const { return adjoint_; }
  /// Point at which the last estimate correlated: z*, or the midpoint of tracked and dyadic.
  const Matrix<S>& point() const { return point_; }
  /// End states of the nudged phases of the last estimate, side by side (k·T, C). Empty without nudged phases.
  const Matrix<S>& nudged() const { return nudged_states_ != nullptr ? *nudged_states_ : none_; }

  /// Sets ε of all phases, which follows the damping during training.
  void set_step(double step) { options_.step = options_.free.step = step; }

  /// Sets the limits of adjoints: a sequence beyond both, or whose adjoint is not finite, is left out. Infinite: none is left
  /// out. Without a stable equilibrium the nudged phase grows without bound, and one such sequence would decide the direction
  /// of a step. A sequence that is hard to learn has a large ‖a‖ and an ordinary gain. A learnt one has, under noise, a large
  /// gain and an ordinary ‖a‖. bptt knows its adjoint too late and leaves none out.
  void set_adjoint_limit(const AdjointSize& limit) { adjoint_limit_ = limit; }

 protected:
  /// True if sequences may be left out.
  bool leaves_out() const { return std::isfinite(adjoint_limit_.norm); }

  /// True if the sequence is left out. `drive`: ‖∂C/∂z‖ that drove its adjoint. The report notes the adjoint's size.
  bool leave_out(double drive, SequenceReport& report) const {
    const auto norm = static_cast<double>(adjoint_.norm());
    report.adjoint = {norm, drive > 0 ? norm / drive : 0};
    const bool within = report.adjoint.norm <= adjoint_limit_.norm || report.adjoint.gain <= adjoint_limit_.gain;
    report.left_out = leaves_out() && !(std::isfinite(norm) && within);
    return report.left_out;
  }

  EstimatorOptions options_;
  AdjointSize adjoint_limit_ = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  Matrix<S> adjoint_, point_;
  const Matrix<S>* nudged_states_ = nullptr;  ///< of the estimator's own

 private:
  Matrix<S> none_;
};

}  // namespace nudge
