// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/terms/term.hpp"

namespace nudge {

/// What the antisymmetric correction of the nudged phase covers.
enum class CorrectionScope {
  attention,  ///< the memory is taken for reciprocal, as it is on one array
  full,       ///< the memory too
};

/// The Hopfield memory on two separately programmed arrays, a term of a SharedArray: one is driven by the state, the other returns,
///     F(z) = 2 relu(z W_m) R,      R (M, C), nominally W_mᵀ.
/// Devices differ, so R ≠ W_mᵀ and the Jacobian 2 W_m D R is not symmetric: no energy exists, and EP without a
/// correction that covers this term follows a wrong gradient. W_m is the term's columns of the shared array, R a map of its
/// own. With CorrectionScope::attention the term is *treated* as conservative (the circuit relaxes it as it is and sends
/// nothing back), while its jvp and vjp stay exact for references.
template <class S>
class TwoArrayMemory final : public Term<S> {
 public:
  /// u = z W_m are columns `at` of what the terms of the array see, M = at.count; `back` is R (M, C), parameter number `parameter`.
  TwoArrayMemory(Columns at, int parameter, const LinearMap<S>& back, CorrectionScope scope);

  TermTraits traits() const override;
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

 private:
  class System;
  Columns at_;
  int parameter_;
  const LinearMap<S>* back_;
  CorrectionScope scope_;
};

}  // namespace nudge
