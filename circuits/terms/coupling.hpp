// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "circuits/terms/term.hpp"

namespace nudge {

/// Coupling by which one node drives another of the same width one to one, through a resistor or amplifier without weights:
/// F_target += g z_source. Not conservative: nothing comes back.
template <class S>
class NodeCoupling : public Term<S> {
 public:
  NodeCoupling(int source, Columns from, int target, Columns to, S gain, std::string_view name = "node_coupling");

  TermTraits traits() const override {
    return {.name = name_, .nonconservative = true, .sources = {source_}, .targets = {target_}, .keeps_points = true};
  }
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

 private:
  class System;

  int source_, target_;
  Columns from_, to_;
  S gain_;
  std::string_view name_;
};

/// Matrix W = S (P + Pᵀ)/2 + A (P − Pᵀ)/2 of a pattern P (N, N): reciprocal and non-reciprocal coupling, each with its own
/// gain. S = A = 1 is P itself, A = 0 the nearest reciprocal network, A = −1 (S = 1) the reversed one, Pᵀ.
template <class S>
Matrix<S> coupling_matrix(const Matrix<S>& pattern, double symmetric, double antisymmetric);

/// Channels that drive each other through one array, a term of a SharedArray: F_tc = Σ_k z_tk W_kc. W_c (C, C) are the term's
/// columns of the array. J v = v W, and Jᵀ u = u Wᵀ comes from the transposed read of the same devices. Non-conservative as a
/// whole, since devices break the symmetry even of a reciprocal W. Settles when every eigenvalue of W has a real part below the
/// leak 1 + s c.
template <class S>
class Coupling final : public NodeCoupling<S> {
 public:
  /// Makes the term; z W_c are columns `at` of the terms' view of the array.
  explicit Coupling(Columns at);
};

}  // namespace nudge
