// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/terms/unit_force.hpp"

namespace nudge {

/// Modern Hopfield memory, the feed-forward layer as an energy (founding note, section 1); a term of a SharedArray:
///     E_mem(z) = −Σ_{t,m} relu(u_tm)²,  u = z W_m,      −∂E_mem/∂z = 2 relu(u) W_mᵀ
/// W_m (C, M) are the term's columns of the shared array; the force returns through the transposed read of the same
/// devices. The Jacobian 2 W_m D W_mᵀ with gates D = [u > 0] is symmetric; relu'(0) = 0. E_mem is unbounded below: a
/// fixed point needs 2 ‖W_m‖₂² below the clamp and damping (training/memory_bound).
template <class S>
class HopfieldMemory final : public UnitForce<S> {
 public:
  /// Makes the term; u are columns `at` of the terms' view of the array.
  explicit HopfieldMemory(Columns at);

  /// Traits; the array has what a difference of states drives (SharedArray).
  TermTraits traits() const override;

 private:
  void add_force(ConstMatrixRef<S> u, MatrixRef<S> f) const override { f.array() += S(2) * u.array().max(S(0)); }
  void slope(ConstMatrixRef<S> u, MatrixRef<S> slope) const override {
    slope.array() = S(2) * (u.array() > S(0)).template cast<S>();
  }
  double energy(ConstMatrixRef<S> u) const override {
    return -u.array().max(S(0)).template cast<double>().square().sum();
  }
};

/// Terms that the antisymmetric correction of the nudged phase covers.
enum class CorrectionScope {
  attention,  ///< attention only: the memory counts as reciprocal, as it is on one array
  full,       ///< attention and memory
};

/// Hopfield memory on two separately programmed arrays, a term of a SharedArray. The state drives one, the other returns:
///     F(z) = 2 relu(z W_m) R,      R (M, C), nominally W_mᵀ.
/// Devices differ, so R ≠ W_mᵀ, the Jacobian 2 W_m D R is not symmetric, and no energy exists. EP without a correction that covers this term
/// follows a wrong gradient. W_m is the term's columns of the shared array, R a map of its own. With CorrectionScope::attention the term is
/// *treated* as conservative: the circuit relaxes it unchanged and sends nothing back. Its jvp and vjp stay exact for references.
template <class S>
class TwoArrayMemory final : public Term<S> {
 public:
  /// Makes the term. u = z W_m are columns `at` of the terms' view of the array, M = at.count; `back` is R (M, C),
  /// parameter number `parameter`.
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
