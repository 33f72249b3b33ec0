// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/terms/force_term.hpp"

namespace nudge {

/// W = S (P + Pᵀ)/2 + A (P − Pᵀ)/2 of a pattern P (N, N): reciprocal and non-reciprocal coupling, each with its own gain.
/// S = A = 1 is P itself, A = 0 the nearest reciprocal network, A = −1 (S = 1) the reversed one, Pᵀ.
template <class S>
Matrix<S> coupling_matrix(const Matrix<S>& pattern, double symmetric, double antisymmetric);

/// Channels that drive each other through one array: F_tc = Σ_k z_tk W_kc, W_c (C, C) the term's columns of the input
/// array; J v = v W, Jᵀ u = u Wᵀ from the transposed read of the same devices. Non-conservative as a whole, since devices
/// break the symmetry even of a reciprocal W. Settles when every eigenvalue of W has a real part below the leak 1 + s c.
template <class S>
class Coupling final : public ForceTerm<S> {
 public:
  explicit Coupling(Index channels) : channels_(channels) {}

  ForceTermTraits<S> traits() const override {
    return {.name = "coupling", .conservative = false, .input_columns = channels_};
  }
  std::unique_ptr<TermPoint> make_point(Index tokens, Index max_copies) const override;
  void force(ConstMatrixRef<S> h, ConstMatrixRef<S> dh, MatrixRef<S> g, MatrixRef<S> f, TermPoint& point,
             ReadContext& read) const override;
  void linearize(ConstMatrixRef<S> h, MatrixRef<S> g, MatrixRef<S> f, TermPoint& point,
                 ReadContext& read) const override;
  void jvp(ConstMatrixRef<S> dh, MatrixRef<S> g, MatrixRef<S> f, TermPoint& point, ReadContext& read) const override;
  void vjp(ConstMatrixRef<S> u, ConstMatrixRef<S> hu, MatrixRef<S> g, TermPoint& point,
           ReadContext& read) const override;

 private:
  Index channels_;
};

}  // namespace nudge
