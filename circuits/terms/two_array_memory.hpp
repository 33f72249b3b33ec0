// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/terms/force_term.hpp"

namespace nudge {

/// What the antisymmetric correction of the nudged phase covers.
enum class CorrectionScope {
  attention,  ///< the memory is taken for reciprocal, as it is on one array
  full,       ///< the memory too
};

/// The Hopfield memory on two separately programmed arrays: one is driven by the state, the other returns,
///     F(z) = 2 relu(z W_m) R,      R (M, C), nominally W_mᵀ.
/// Devices differ, so R ≠ W_mᵀ and the Jacobian 2 W_m D R is not symmetric: no energy exists, and EP without a
/// correction that covers this term follows a wrong gradient. W_m is the term's columns of the input array, R a map of its
/// own. With CorrectionScope::attention the term is *treated* as conservative (the circuit relaxes it as it is and sends
/// nothing back), while its jvp and vjp stay exact for references.
template <class S>
class TwoArrayMemory final : public ForceTerm<S> {
 public:
  /// memories M ≥ 1; `back` is R (M, C), parameter number `parameter`.
  TwoArrayMemory(Index memories, int parameter, LinearMap<S>& back, CorrectionScope scope);

  ForceTermTraits<S> traits() const override {
    return {.name = "two_array_memory",
            .conservative = scope_ == CorrectionScope::attention,
            .input_columns = memories_,
            .weights = {{parameter_, back_}}};
  }
  std::unique_ptr<TermPoint> make_point(Index tokens, Index max_copies) const override;
  void force(ConstMatrixRef<S> h, ConstMatrixRef<S> dh, MatrixRef<S> g, MatrixRef<S> f, TermPoint& point,
             ReadContext& read) const override;
  void linearize(ConstMatrixRef<S> h, MatrixRef<S> g, MatrixRef<S> f, TermPoint& point,
                 ReadContext& read) const override;
  void jvp(ConstMatrixRef<S> dh, MatrixRef<S> g, MatrixRef<S> f, TermPoint& point, ReadContext& read) const override;
  void vjp(ConstMatrixRef<S> u, ConstMatrixRef<S> hu, MatrixRef<S> g, TermPoint& point,
           ReadContext& read) const override;
  void accumulate(ConstMatrixRef<S> u, S scale, TermPoint& point, GradientSink<S>& sink,
                  ReadContext& read) const override;

 private:
  Index memories_;
  int parameter_;
  LinearMap<S>* back_;
  CorrectionScope scope_;
};

}  // namespace nudge
