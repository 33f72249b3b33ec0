// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "circuits/terms/force_term.hpp"

namespace nudge {

/// One term of the force of an EquilibriumBlock that reads the state itself and not projections of it: a computation with
/// weights of its own, held as numbers. Non-conservative: it has a transpose, but no energy that the block could add up.
/// Everything is added to f. States and directions are (k·T, C) for k copies of one sequence of T tokens; the point has T
/// rows and serves all copies.
template <class S>
class StateTerm {
 public:
  virtual ~StateTerm() = default;

  virtual std::string_view name() const = 0;

  virtual std::unique_ptr<TermPoint> make_point(Index tokens) const = 0;

  /// f += F(z).
  virtual void force(ConstMatrixRef<S> z, MatrixRef<S> f, TermPoint& point) const = 0;

  /// force() for one copy, remembering the point.
  virtual void linearize(ConstMatrixRef<S> z, MatrixRef<S> f, TermPoint& point) const = 0;

  /// f += scale · J v.
  virtual void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, TermPoint& point) const = 0;

  /// f += Jᵀ u.
  virtual void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, TermPoint& point) const = 0;

  /// Adds scale · ⟨u, ∂F/∂θ⟩ for every weight θ of the term. One copy.
  virtual void accumulate(ConstMatrixRef<S> u, S scale, TermPoint& point, GradientSink<S>& sink) const = 0;
};

}  // namespace nudge
