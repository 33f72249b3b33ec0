// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/nudged_law.hpp"
#include "training/learning/estimators/estimator.hpp"

namespace nudge {

/// What the non-conservative part does while nudged.
enum class NudgeLaw {
  plain,       ///< F(z): no correction, biased for a non-reciprocal force
  corrected,   ///< F(z) − (J − Jᵀ)(z − z*), J at z*: the founding note's AEP
  clipped,     ///< the same with the correction clipped elementwise
  transposed,  ///< F_c(z) − F_c(z*) + Jᵀ (z − z*), J at z* of the non-conservative terms; always anchored
};

/// Nudged phases run side by side from z*, one per entry of betas:
///     z ← z + ε (f(z) − anchor − β_k ∂C/∂z(z)),  T2 times;   anchor = F(z*) or 0.
/// The anchor is read anew by anchor reads (of a noise-free dynamics it is the stored force) and shared by the phases.
/// Where the free phase sweeps (SettleOptions::schedule) so do the nudged ones, from the last node to the first: what is
/// pulled back through a system whose nodes drive later ones is then settled by one sweep.
/// With the solver `coordinate` every step of a node ends where the bracket is 0, z_j ← z_j + [...]/(D + β_k c), D the load of the
/// units and c the curvature of the cost: sweeps as in the free phase. NumericalFailure where D + β_k c ≤ 0 at an output.
/// States that are kept in a box are projected after every step, nudge included; the anchor is of what can move at z*.
/// With an oscillating nudge (Oscillation) there is one copy, nudged by β sin ωt, and what is returned is z* + d, d what a lock-in
/// makes of it: the state of a nudge β, to first order.
/// With amplifiers of finite bandwidth (SettleOptions::lag of the free phase) the bracket passes them first.
template <class S>
class NudgedPhase {
 public:
  /// Returns the final (or averaged) states, (k·T, C); valid until the next run. `at`: z*; null where the law is plain and
  /// nothing is anchored, which need nothing that is stored there.
  const Matrix<S>& run(Example<S>& example, Linearization<S>* at, const std::vector<double>& betas, NudgeLaw law,
                       bool anchored, const EstimatorOptions& options, SequenceReport& report);

  /// ‖∂C/∂z‖ that drove a state of the last run at its end, root mean square over the states.
  double drive() const { return drive_; }

 private:
  void prepare(Example<S>& example, Linearization<S>* at, Index copies, NudgeLaw law, bool anchored);
  void evaluate_law(NudgeLaw law, double clip, SequenceReport& report);
  void evaluate(Example<S>& example, const std::vector<double>& betas, NudgeLaw law, bool anchored,
                const EstimatorOptions& options, SequenceReport& report);
  void cost_current(Example<S>& example, bool frozen);
  void add_nudge(const std::vector<double>& betas, bool anchored, Index rows, Columns columns, Columns nudged);
  const Matrix<S>& relax(Example<S>& example, const std::vector<double>& betas, NudgeLaw law, bool anchored,
                         const EstimatorOptions& options, SequenceReport& report);
  const Matrix<S>& oscillate(Example<S>& example, NudgeLaw law, bool anchored, const EstimatorOptions& options,
                             SequenceReport& report);
  const Matrix<S>& phase(Example<S>& example, const std::vector<double>& betas, NudgeLaw law, bool anchored,
                         const EstimatorOptions& options, SequenceReport& report);
  bool measure_settling(Example<S>& example, const std::vector<double>& betas, NudgeLaw law, bool anchored,
                        const EstimatorOptions& options, SequenceReport& report);
  void sweep(Example<S>& example, const std::vector<double>& betas, NudgeLaw law, bool anchored,
             const EstimatorOptions& options, SequenceReport& report);
  void descend(Example<S>& example, const std::vector<double>& betas, const EstimatorOptions& options, Columns columns);
  void solve(Example<S>& example, const std::vector<double>& betas, const EstimatorOptions& options);
  void check_minimum(Example<S>& example, const std::vector<double>& betas, const EstimatorOptions& options) const;
  bool settled_by_sweep(Example<S>& example, const std::vector<double>& betas, NudgeLaw law,
                        const EstimatorOptions& options);

  NudgedLaw<S> laws_;
  NudgedPoint<S> point_ = {};
  LockIn<S> lock_in_;
  ReadTiming timing_;
  Matrix<S> states_, force_, cost_gradient_, anchor_, mean_;
  Matrix<S> flow_, anchor_before_, displacement_, again_;
  Matrix<S> inverse_;  ///< 1/(D + β c) of one phase
  double drive_ = 0;
  bool unsolved_ = false;   ///< a direct solution was not found
  double solved_time_ = 0;  ///< of the direct solutions
  bool frozen_ = false;     ///< the cost's current of z* is in cost_gradient_
};

}  // namespace nudge
