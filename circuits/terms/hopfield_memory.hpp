// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/terms/force_term.hpp"

namespace nudge {

/// Modern Hopfield memory, the feed-forward layer as an energy (founding note, section 1):
///     E_mem(z) = −Σ_{t,m} relu(u_tm)²,  u = z W_m,      −∂E_mem/∂z = 2 relu(u) W_mᵀ
/// W_m (C, M) are the term's columns of the input array; the force returns through the transposed read of the same
/// devices. The Jacobian 2 W_m D W_mᵀ with gates D = [u > 0] is symmetric; relu'(0) = 0. E_mem is unbounded below: a
/// fixed point needs 2 ‖W_m‖₂² below the clamp and damping (training/memory_bound).
template <class S>
class HopfieldMemory final : public ForceTerm<S> {
 public:
  /// memories M ≥ 1.
  explicit HopfieldMemory(Index memories) : memories_(memories) {}

  ForceTermTraits<S> traits() const override {
    return {.name = "memory",
            .conservative = true,
            .input_columns = memories_,
            .returns_through_input = true,
            .vjp_reads_input = true};
  }
  std::unique_ptr<TermPoint> make_point(Index tokens, Index max_copies) const override;
  void force(ConstMatrixRef<S> h, ConstMatrixRef<S> dh, MatrixRef<S> g, MatrixRef<S> f, TermPoint& point,
             ReadContext& read) const override;
  void linearize(ConstMatrixRef<S> h, MatrixRef<S> g, MatrixRef<S> f, TermPoint& point,
                 ReadContext& read) const override;
  void jvp(ConstMatrixRef<S> dh, MatrixRef<S> g, MatrixRef<S> f, TermPoint& point, ReadContext& read) const override;
  void vjp(ConstMatrixRef<S> u, ConstMatrixRef<S> hu, MatrixRef<S> g, TermPoint& point,
           ReadContext& read) const override;
  std::optional<double> energy(ConstMatrixRef<S> h) const override;

 private:
  Index memories_;
};

}  // namespace nudge
