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

/// Which nudged phases are run. centered: a = (z₋ − z₊)/2β, error O(β²); positive: a = (z* − z₊)/β and negative:
/// a = (z₋ − z*)/β, error O(β); random: one of these two, drawn for every batch, whose errors cancel in the mean over batches (Scellier and
/// Bengio 2017, arXiv:1602.05179, section 4; Laborieux et al. 2021, arXiv:2006.03824).
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
  bool frozen_cost = false;          ///< ep*, aep*: the cost's current is that of z*, held while nudged
  double clip = 0;                   ///< aep: clip of the correction, elementwise; 0 = none
  int average_nudged = 1;            ///< mean of the last n states of each nudged phase (against read noise)
  double input_frequency = 0;        ///< frequency: ω₁ of the inputs, in 1/τ; 0: they are at rest
  double error_frequency = 0.01;     ///< frequency: ω₂ of the error
  double adjoint_tolerance = 1e-10;  ///< implicit: relative residual of Jᵀ a = −∂C/∂z
  int adjoint_iterations = 400;      ///< implicit: GMRES iterations at most
  double running_mean = 0;           ///< m of the running mean of gradients that finish() takes; 0: none
  NudgedDrive drive = NudgedDrive::state;            ///< of the memory's arrays in nudged phases of aep_transposed
  bool below_rounding = false, below_noise = false;  ///< allow a nudge whose gradient is rounding, or noise, alone
};

/// What a state that settles is part of.
enum class Phase { free, nudged };

template <class S>
struct Example;
template <class S>
class GradientEstimator;

/// Somebody who looks on while an example is learnt from.
template <class S>
class PhaseWatch {
 public:
  virtual ~PhaseWatch() = default;
  /// The state (copies side by side) after so many steps of a phase that settle() makes; 0: where it starts.
  virtual void step(Phase phase, ConstMatrixRef<S> z, int steps) = 0;
  /// bptt adds scale · ⟨u, ∂F/∂θ⟩ at a point of the free phase to its gradient: from the last step to the first.
  virtual void pull(Linearization<S>& at, ConstMatrixRef<S> u, S scale) = 0;
  /// The gradient is estimated.
  virtual void end(Example<S>& example, GradientEstimator<S>& estimator) = 0;
};

/// One example to learn from, a sequence or independent samples side by side. The state enters as z_0 and leaves as the free equilibrium z*.
template <class S>
struct Example {
  Dynamics<S>* dynamics;
  Cost<S>* cost;
  Matrix<S>* state;                   ///< (rows, cols)
  Matrix<S>* initial_state_gradient;  ///< (rows, cols): += weight · dC/dz_0 where the estimator sees it (bptt)
  S weight;                           ///< of this sequence in the batch's mean cost: 1/(B·T)
  GradientSink<S>* sink;
  CorrectionFilter<S>* filter = nullptr;  ///< what the correction of the nudged phases passes; null: ideal
  SampleHold<S>* hold = nullptr;          ///< what keeps z* and the nudged states; null: kept as they are
  bool measures_noise = false;            ///< nudged phases run twice to tell the noise of their states (NudgeSignal)
  double sign = 1;                        ///< of β where sides are random, ±1, the same for a batch
  Matrix<S>* kept =
      nullptr;  ///< (rows, keeps()): what the estimator keeps of each sample, read and written; null: nothing is kept
  const std::vector<char>* visited = nullptr;  ///< of each row, beside it: whether the sample was there before
  PhaseWatch<S>* watch = nullptr;              ///< null: nobody
};

/// The reads that follow, of dynamics and cost, are those of a nudged phase. Returns their timing: a step lasts its duration.
template <class S>
ReadTiming begin_nudged_reads(Example<S>& example, const EstimatorOptions& options) {
  const ReadTiming timing = euler_timing(options.step, example.dynamics->leak(), options.free.lag);
  example.dynamics->begin_reads(ReadClass::nudged);
  example.dynamics->set_read_timing(timing);
  example.cost->set_read_timing(timing);
  return timing;
}

/// Gradients that are computed and not read: derivatives of the simulated circuit, as backprop and implicit differentiation
/// take them.
template <class S>
void compute_derivatives(Example<S>& example) {
  example.dynamics->use_exact_derivatives(true);
  example.cost->use_exact_derivatives(true);
}

/// How large an adjoint is, and how much larger than what drives it.
struct AdjointSize {
  double norm = 0;  ///< ‖a‖
  double gain = 0;  ///< ‖a‖/‖∂C/∂z‖: bounded by ‖J⁻¹‖ where there is an equilibrium; 0 where nothing is nudged
};

/// What happened to one sequence.
struct SequenceReport {
  SettleResult free;
  double loss = 0;  ///< Σ_t C_t at the free equilibrium
  /// diverged when a nudged state left the finite numbers or goes to and fro; converged when nudged_residual ≤ 1e-2; else max_steps
  Status nudged = Status::converged;
  double nudged_residual = 0;  ///< ‖f_nudged‖ / ‖z − z*‖ at the end: what is left of the nudged transient, per τ
  double nudged_time = 0;      ///< simulated time of the nudged phases, one after the other, in units of τ
  double nudge_ratio = 0;      ///< ‖z − z*‖ / ‖z*‖: size of the nudge
  NudgeSignal signal = {};    ///< the same beside the noise of the states
  AdjointSize adjoint;        ///< 0 where the estimator forms none
  bool left_out = false;      ///< its adjoint was beyond the limits: the sequence adds nothing to the gradient
  long clipped = 0;           ///< entries of the correction on which the clip was active, summed over steps
  double cost_in_forces = 0;  ///< work in force evaluations: a jvp or vjp counts as one
};

/// From phases to a gradient: settles the sequence, estimates the adjoint a ≈ dC/dx_in, and correlates ⟨a, ∂F/∂θ⟩ into
/// the sink; knows nothing of devices. One object per thread.
template <class S>
class GradientEstimator {
 public:
  explicit GradientEstimator(const EstimatorOptions& options) : options_(options) {}
  virtual ~GradientEstimator() = default;
  virtual SequenceReport estimate(Example<S>& example) = 0;

  /// How many states it evaluates side by side (the dynamics and cost must hold that many copies).
  virtual Index copies() const { return 2; }

  /// How many numbers it keeps of every sample from visit to visit (Example::kept), in checkpoints, the same for any threads and ranks.
  virtual Index keeps() const { return 0; }

  /// Number of matrices of the shape of every parameter that it keeps from batch to batch (finish()), in checkpoints, the same for any
  /// threads and ranks.
  virtual Index parameter_matrices() const { return options_.running_mean > 0 ? 1 : 0; }

  /// Changes the gradient of one parameter, summed over a batch from which a training learns (no step is left out), and the matrices kept
  /// of it, zero at first. `before`: number of batches finished before. Called where matrices are kept, by one thread. The default is the running mean of nudge.running_mean = m,
  ///     ḡ ← m ḡ + (1 − m) g,     g ← ḡ/(1 − m^(before + 1))     (bias-corrected as in Kingma and Ba, arXiv:1412.6980, algorithm 1)
  virtual void finish(double before, Matrix<S>& gradient, std::span<Matrix<S>> kept) {
    const double m = options_.running_mean;
    kept[0] = static_cast<S>(m) * kept[0] + static_cast<S>(1 - m) * gradient;
    gradient = static_cast<S>(1 / (1 - std::pow(m, before + 1))) * kept[0];
  }

  /// Adds the gradient that nudged states side by side (k·rows, cols) give, of the z* of the last estimate, to the sink. false: its gradient
  /// is of no such states.
  virtual bool correlate(Example<S>& /*example*/, const Matrix<S>& /*nudged*/, GradientSink<S>& /*sink*/) {
    return false;
  }

  /// The adjoint of the last estimate for the cost summed over tokens, (rows, cols); empty for bptt before the last step.
  const Matrix<S>& adjoint() const { return adjoint_; }
  /// The point at which the last estimate correlated (z*, or the midpoint of tracked and dyadic).
  const Matrix<S>& point() const { return point_; }
  /// Where the nudged phases of the last estimate ended, side by side (k·T, C); empty where there are none.
  const Matrix<S>& nudged() const { return nudged_states_ != nullptr ? *nudged_states_ : none_; }

  /// ε of all phases, which follows the damping during training.
  void set_step(double step) { options_.step = options_.free.step = step; }

  /// Sequences beyond both limits (or whose adjoint is not finite) are left out; infinite: none is. In a circuit without a
  /// stable equilibrium the nudged phase grows without bound, and one such sequence would decide the direction of a step. One
  /// that is hard to learn has a large ‖a‖ and an ordinary gain; one that is learnt, under noise, a large gain and an
  /// ordinary ‖a‖. bptt has its adjoint only when it has its gradient, and leaves none out.
  void set_adjoint_limit(const AdjointSize& limit) { adjoint_limit_ = limit; }

 protected:
  /// Whether any may be left out.
  bool leaves_out() const { return std::isfinite(adjoint_limit_.norm); }

  /// Whether the sequence is left out, whose adjoint was driven by a ∂C/∂z of this norm; notes its size.
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
