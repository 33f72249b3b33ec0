// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "circuits/equilibrium_block.hpp"
#include "sim/dynamics.hpp"

namespace nudge {

/// One sequence settling in an EquilibriumBlock: the block's force with this sequence's drive x_in (T, C), its read
/// noise, and all working memory. One object per thread; bind() moves it to the next sequence without allocating.
template <class S>
class BlockDynamics final : public Dynamics<S> {
 public:
  /// max_copies: how many states are evaluated side by side at most (2 for ±β, N for N-point nudging).
  BlockDynamics(const EquilibriumBlock<S>& block, Index tokens, Index max_copies);
  ~BlockDynamics() override;

  /// Start on a sequence: its drive, the identity of its reads, and a zero drive gradient.
  void bind(ConstMatrixRef<S> drive, const ReadContext& read);

  Index rows() const override { return tokens_; }
  Index cols() const override { return block_->channels(); }
  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part = Part::all) override;
  Linearization<S>& linearize(ConstMatrixRef<S> z) override;
  void nearby_force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part) override;
  /// E = ½‖z − x_in‖² + ½ s c ‖z‖² + Σ E_term: −∂E/∂z is the conservative force.
  std::optional<double> energy(ConstMatrixRef<S> z) override;
  void begin_reads(ReadClass kind) override { read_.kind = kind; }
  void set_read_timing(ReadTiming timing) override { read_.relaxation = timing; }
  bool noisy() const override { return noisy_; }
  /// 1 + s c: clamp and damping.
  double leak() const override { return block_->leak().total(); }
  void use_exact_derivatives(bool exact) override { read_.exact = exact; }

  ReadContext& read() { return read_; }
  /// Σ scale·u over accumulate_parameter_gradient(): the gradient with respect to x_in (∂F/∂x_in = 1), (T, C).
  const Matrix<S>& drive_gradient() const { return drive_gradient_; }
  const EquilibriumBlock<S>& block() const { return *block_; }
  const TermPoint& point(std::size_t term) const { return *points_[term]; }

 private:
  class Point;
  template <class Chosen>
  Columns span_of(Chosen chosen) const;
  void add_leak(ConstMatrixRef<S> z, MatrixRef<S> f) const;
  void add_node_noise(MatrixRef<S> f);
  /// act(term, point) for every term that reads the state, all of them non-conservative.
  template <class Act>
  void for_state_terms(Part part, Act act);

  const EquilibriumBlock<S>* block_;
  Index tokens_;
  Matrix<S> drive_, drive_gradient_;
  Matrix<S> h_, g_;  ///< projections and drives of the input array's columns, (copies·T, columns)
  std::vector<std::unique_ptr<TermPoint>> points_;        ///< of the terms that read projections
  std::vector<std::unique_ptr<TermPoint>> state_points_;  ///< of the terms that read the state
  ReadContext read_;
  bool noisy_ = false;    ///< of the block when it was bound
  ReadMemory memory_;     ///< of the reads of the present sequence
  Matrix<S> node_noise_;  ///< working memory of add_node_noise
  std::unique_ptr<Point> linearization_;
};

}  // namespace nudge
