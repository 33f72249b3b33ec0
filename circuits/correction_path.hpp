// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "circuits/correction_spec.hpp"
#include "circuits/read_context.hpp"
#include "sim/dynamics.hpp"

namespace nudge {

/// A Dynamics whose nudged phases carry the antisymmetric correction through real circuits. The force is untouched; what
/// AEP adds to it passes the path p → q(p) below, per node and sample:
///     corrected:   f = F(z) − q_J(J v) + q_T(Jᵀ v)            transposed:  f = F_c(z) + q_T(Jᵀ v)
///     q(p) = (1 + γ + Γ_node) Q(p + rms(p) σ ξ/√dt) + o_node
/// with J of the non-conservative terms and v = z(t − delay) − z₀. γ: common gain error, Γ: static spread of it per node,
/// o: static offset per node, ξ: fresh noise, Q: converter. The two paths J and T have errors of their own. jvp() and
/// vjp() of the non-conservative terms pass the same path without delay (estimators that iterate on them directly).
/// One object per thread, beside the Dynamics that it decorates.
template <class S>
class CorrectionPath final : public Dynamics<S> {
 public:
  /// `ideal` must outlive this object. seed: of the run; it names the static errors of the nodes.
  CorrectionPath(Dynamics<S>& ideal, const CorrectionSpec& spec, Index max_copies, std::uint64_t seed);
  ~CorrectionPath() override;

  /// Start on a sequence: the address of its fresh noise.
  void bind(const ReadContext& read) { read_ = read; }

  Index rows() const override { return ideal_->rows(); }
  Index cols() const override { return ideal_->cols(); }
  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part = Part::all) override { ideal_->force(z, f, part); }
  const Box<S>* box() const override { return ideal_->box(); }
  std::size_t nodes() const override { return ideal_->nodes(); }
  Columns node_columns(std::size_t node) const override { return ideal_->node_columns(node); }
  void node_force(ConstMatrixRef<S> z, MatrixRef<S> f, std::size_t node) override { ideal_->node_force(z, f, node); }
  Linearization<S>& linearize(ConstMatrixRef<S> z) override;
  void nearby_force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part) override { ideal_->nearby_force(z, f, part); }
  std::optional<double> energy(ConstMatrixRef<S> z) override { return ideal_->energy(z); }
  NodeMove node_step(MatrixRef<S> z, MatrixRef<S> f, std::size_t node, S epsilon) override {
    return ideal_->node_step(z, f, node, epsilon);
  }
  bool accumulate_energy_gradient(ConstMatrixRef<S> z, std::span<const S> scales, GradientSink<S>& sink) override {
    return ideal_->accumulate_energy_gradient(z, scales, sink);
  }
  void begin_reads(ReadClass kind) override;
  void set_read_timing(ReadTiming timing) override;
  double leak() const override { return ideal_->leak(); }
  bool noisy() const override { return ideal_->noisy() || spec_.noise > 0; }
  void use_exact_derivatives(bool exact) override;

 private:
  class Point;
  enum class Way : std::uint32_t { forward = 0, backward = 1 };

  void pass(Way way, MatrixRef<S> p);
  void delay(MatrixRef<S> v);

  Dynamics<S>* ideal_;
  CorrectionSpec spec_;
  ReadContext read_;
  Matrix<S> gain_[2], offset_[2];   ///< of every node, (rows, cols), per way
  std::vector<Matrix<S>> history_;  ///< ring of the last displacements
  std::size_t steps_ = 0;           ///< displacements seen since linearize()
  Matrix<S> draws_;
  std::unique_ptr<Point> point_;
};

}  // namespace nudge
