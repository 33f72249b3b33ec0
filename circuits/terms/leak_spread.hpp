// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "circuits/terms/term.hpp"

namespace nudge {

/// Static mismatch of the clamps of a circuit's nodes: the conductance C/τ of node j is (1 + δ_j) of its nominal one,
///     F_j += −δ_j z_j,   E += ½ Σ δ_j z_j²,
/// δ (1, cols) of the whole state, the same for all rows. No parameters.
template <class S>
class LeakSpread final : public Term<S> {
 public:
  /// `nodes` of the circuit that it is for.
  LeakSpread(Matrix<S> deviations, std::size_t nodes);

  const Matrix<S>& deviations() const { return deviations_; }
  TermTraits traits() const override;
  bool add_load(MatrixRef<S> load) const override {
    load += deviations_;
    return true;
  }
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

 private:
  class System;
  Matrix<S> deviations_;
  std::vector<int> nodes_;
};

/// Normal deviations of this standard deviation, drawn for the nodes of a seed; cut at ±½, where a clamp is no clamp any more.
template <class S>
Matrix<S> drawn_deviations(double sigma, Index cols, std::uint64_t seed);

}  // namespace nudge
