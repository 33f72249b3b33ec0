// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "sim/nudged_law.hpp"
#include "training/learning/estimators/estimator.hpp"

namespace nudge {

/// Law of the non-conservative part while nudged.
enum class NudgeLaw {
  plain,       ///< F(z): no correction, biased for a non-reciprocal force
  corrected,   ///< F(z) − (J − Jᵀ)(z − z*), J at z*: the founding note's AEP
  clipped,     ///< as corrected, with the correction clipped elementwise
  transposed,  ///< F_c(z) − F_c(z*) + Jᵀ (z − z*), J at z* of the non-conservative terms; always anchored
  clamped,     ///< F(z), and the columns of the cost are held at z* − β ∂C/∂z(z*) (coupled learning)
};

/// A nudged phase as a system that settles, k copies side by side, one per β:
///     f_k(z) = law(z) − anchor − β_k ∂C/∂z(z),   anchor = F(z*) or 0,
/// and 0 where outputs are clamped. For a binary node in a bath ∂C/∂z is taken at ½: the rise of ½ |s − y|² from s = 0 to 1.
/// settle() relaxes it by the solver and the schedule of the free phase. The anchor is read once by anchor reads (of a noise-free
/// dynamics it is the stored force) and shared by the copies. States (k·rows, cols).
///
/// In a sweep, nodes move from the last to the first. For β > 0 the step of a nudged node is implicit in a cost of curvature c:
///     z ← z + ε f/(1 + ε β c),
/// With εL = 1 a node goes to its minimum for β of any size. For β < 0, where the cost weakens the hold of the node, it is
/// explicit. The implicit step diverges if other terms hold a node harder than its leak. Coordinate descent ends at f = 0. A
/// Newton step takes J of the law at z*, and −β c of the cost where c is known. A draw in a bath adds β c to a node's leak.
template <class S>
class NudgedDynamics final : public Dynamics<S>, public Layered<S>, public Direct<S>, public Bath<S> {
 public:
  /// Starts on an example whose state is z*. `at`: the linearisation there, null for a plain law without an anchor.
  /// NumericalFailure if a known curvature leaves an output no minimum, D + β c ≤ 0, or if Euler steps pass it, ε (D + β c) ≥ 2.
  /// D is its load, or without loads −∂F_j/∂z_j at z*. It is checked if the leak raises the question and J is symmetric or
  /// triangular: the diagonal then bounds its eigenvalues. It is not checked in a box, nor for noisy reads. ContractViolation
  /// for a solver that has no step for this law or this cost.
  void bind(Example<S>& example, Linearization<S>* at, const std::vector<double>& betas, NudgeLaw law, bool anchored,
            const EstimatorOptions& options);

  /// Sets z (k·rows, cols) to the start of the phase: z* in every copy, and held outputs at their values.
  void start(MatrixRef<S> z);

  /// Replaces β of the only copy: an oscillating nudge.
  void set_beta(double beta) { betas_[0] = beta; }

  /// ‖∂C/∂z‖ of the last evaluation, root mean square over the copies.
  double drive() const;

  /// Entries of the correction that the clip has changed since bind().
  long clipped() const { return clipped_; }

  /// True if the cost's current follows the state, no step is known to be small enough, and reads have no noise.
  bool may_overshoot() const { return curvature_ == 0 && !frozen_ && !base().noisy(); }

  /// True if one sweep settles this phase but for the change of the cost's gradient: a feed-forward system, εL = 1.
  bool settled_by_sweep() const;
  /// ‖f(z)‖ after such a sweep to z.
  double left_by_sweep(ConstMatrixRef<S> z);

  Index rows() const override { return copies() * example_->state->rows(); }
  Index cols() const override { return example_->state->cols(); }
  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part = Part::all) override;
  Linearization<S>& linearize(ConstMatrixRef<S> z) override;
  DynamicsTraits<S> traits() const override { return base().traits(); }
  Capabilities<S> capabilities() override;

  std::span<const Columns> node_columns() const override { return columns_; }
  void node_force(ConstMatrixRef<S> z, MatrixRef<S> f, std::size_t node) override;
  NodeMove node_step(MatrixRef<S> z, MatrixRef<S> f, std::size_t node, S epsilon) override;
  void node_vjp(ConstMatrixRef<S> u, MatrixRef<S> out, std::size_t node) override;
  const Matrix<S>* loads() override { return layered().loads(); }
  void solve_node(MatrixRef<S> z, ConstMatrixRef<S> f, const Matrix<S>& inverse, Columns columns) override;

  void move(MatrixRef<S> z, ConstMatrixRef<S> f, std::size_t node, S step, std::span<const S> added) override;
  bool binary(std::size_t node) const override { return base().capabilities().bath->binary(of(node)); }

  DirectResult solve(MatrixRef<S> z, const DirectLoad<S>& load) override;
  DirectResult solve_transposed(ConstMatrixRef<S> c, MatrixRef<S> a) override;
  DirectResult respond(ConstMatrixRef<S> c, double omega, MatrixRef<S> a) override;

 private:
  /// The Jacobian of the law at z*, with −β_k c on the columns of the cost.
  class Slope final : public Linearization<S> {
   public:
    explicit Slope(NudgedDynamics& owner) : owner_(owner) {}
    void force(MatrixRef<S> f, Part part) override;
    void jvp(ConstMatrixRef<S> v, MatrixRef<S> out, Part part) override;
    void vjp(ConstMatrixRef<S> u, MatrixRef<S> out, Part part) override;
    void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> pulled) override;

   private:
    NudgedDynamics& owner_;
  };

  Dynamics<S>& base() const { return *example_->dynamics; }
  Layered<S>& layered() const { return *base().layered(); }
  Index copies() const { return static_cast<Index>(betas_.size()); }
  Index one() const { return example_->state->rows(); }
  template <class M>
  auto copy(M& m, Index k) const {
    return m.middleRows(k * one(), one());
  }
  /// Number of a node of this system in the base system.
  std::size_t of(std::size_t node) const { return reversed_ ? columns_.size() - 1 - node : node; }
  void check_solver(const EstimatorOptions& options) const;
  void check_minimum(const EstimatorOptions& options);
  /// D of the nudged columns; empty: not known, or no β raises the question.
  Matrix<S> held_by(bool explicit_step);
  bool diagonal_bounds();
  bool uncorrected() const { return law_ == NudgeLaw::plain || law_ == NudgeLaw::clamped; }
  /// Columns among these that the cost acts on; a count of 0 or less: none.
  Columns nudged_part(Columns columns) const {
    const Index first = std::max(columns.begin, nudged_.begin);
    return {first, std::min(columns.end(), nudged_.end()) - first};
  }
  bool implicit(double beta) const { return beta > 0 && curvature_ > 0; }
  void read_anchor();
  void read_current(ConstMatrixRef<S> z);
  void apply_law(ConstMatrixRef<S> z, MatrixRef<S> f, int node);
  void add_current(MatrixRef<S> x, Columns columns) const;
  void add_nudge(MatrixRef<S> f, Columns columns) const;
  void hold_outputs(MatrixRef<S> f, Columns columns) const;

  Example<S>* example_ = nullptr;
  NudgedPoint<S> point_ = {};
  NudgedLaw<S> laws_;
  Slope slope_{*this};
  NudgeLaw law_ = NudgeLaw::plain;
  std::vector<double> betas_;
  std::vector<Columns> columns_;  ///< of the nodes, in the order of a sweep
  std::vector<Matrix<S>> inverses_;
  std::vector<S> loads_;  ///< β_k c
  Columns nudged_ = {0, 0};
  Matrix<S> current_, anchor_, before_;
  double step_ = 0, clip_ = 0, curvature_ = 0;
  long clipped_ = 0;
  bool anchored_ = false, frozen_ = false, read_ = false, reversed_ = false, bits_ = false;
};

}  // namespace nudge
