// SPDX-License-Identifier: Apache-2.0
// Private to block_dynamics.cpp and block_point.cpp.
#pragma once

#include <algorithm>

#include "circuits/block_dynamics.hpp"

namespace nudge {

template <class S>
bool in_part(const ForceTerm<S>& term, Part part) {
  return part == Part::all || term.conservative() == (part == Part::conservative);
}

/// The cached point z₀: its projections h₀ in h0_, the terms' own caches in the dynamics' TermPoints.
template <class S>
class BlockDynamics<S>::Point final : public Linearization<S> {
 public:
  Point(BlockDynamics& owner, Index columns)
      : owner_(&owner),
        z0_(owner.tokens_, owner.cols()),
        f0_(owner.tokens_, owner.cols()),
        f0_conservative_(owner.tokens_, owner.cols()),
        h0_(owner.tokens_, columns),
        g0_(owner.tokens_, columns),
        v_(owner.g_.rows(), owner.cols()),
        dh_(owner.g_.rows(), columns) {}

  void set(ConstMatrixRef<S> z);
  void force(MatrixRef<S> f, Part part) override;
  void jvp(ConstMatrixRef<S> v, MatrixRef<S> out, Part part) override;
  void vjp(ConstMatrixRef<S> u, MatrixRef<S> out, Part part) override;
  void accumulate_parameter_gradient(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink) override;
  void nearby_force(ConstMatrixRef<S> z, MatrixRef<S> f);
  void corrected_force(ConstMatrixRef<S> z, MatrixRef<S> f) override;
  void transposed_force(ConstMatrixRef<S> z, MatrixRef<S> f) override;

 private:
  void drive_of_adjoint(ConstMatrixRef<S> u, Part part);
  Columns returning(Part part) const;
  void displacement(ConstMatrixRef<S> z);
  bool by_difference() const { return owner_->block_->nudged_drive() == NudgedDrive::difference; }
  void drive_conservative(ConstMatrixRef<S> z, MatrixRef<S> f);

  BlockDynamics* owner_;
  Matrix<S> z0_, f0_, f0_conservative_, h0_;
  Matrix<S> g0_;  ///< what the terms that return through the input array drive its columns with at z₀
  Matrix<S> v_, dh_;
};

/// The smallest range of columns that covers the chosen terms.
template <class S>
template <class Chosen>
Columns BlockDynamics<S>::span_of(Chosen chosen) const {
  Index begin = block_->input().outputs();
  Index end = 0;
  for (const auto& placed : block_->terms()) {
    if (!chosen(*placed.term)) continue;
    begin = std::min(begin, placed.columns.begin);
    end = std::max(end, placed.columns.end());
  }
  return end > begin ? Columns{begin, end - begin} : Columns{0, 0};
}

template <class S>
template <class Act>
void BlockDynamics<S>::for_state_terms(Part part, Act act) {
  if (part == Part::conservative) return;
  for (std::size_t i = 0; i < state_points_.size(); ++i) act(*block_->state_terms()[i], *state_points_[i]);
}

}  // namespace nudge
