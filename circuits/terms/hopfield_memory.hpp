// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/terms/term.hpp"

namespace nudge {

/// Modern Hopfield memory, the feed-forward layer as an energy (founding note, section 1); a term of a SharedArray:
///     E_mem(z) = −Σ_{t,m} relu(u_tm)²,  u = z W_m,      −∂E_mem/∂z = 2 relu(u) W_mᵀ
/// W_m (C, M) are the term's columns of the shared array; the force returns through the transposed read of the same
/// devices. The Jacobian 2 W_m D W_mᵀ with gates D = [u > 0] is symmetric; relu'(0) = 0. E_mem is unbounded below: a
/// fixed point needs 2 ‖W_m‖₂² below the clamp and damping (training/memory_bound).
template <class S>
class HopfieldMemory final : public Term<S> {
 public:
  /// u are columns `at` of what the terms of the array see.
  explicit HopfieldMemory(Columns at) : at_(at) {}

  TermTraits traits() const override;
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

 private:
  class System;
  Columns at_;
};

}  // namespace nudge
