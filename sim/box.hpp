// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Box that keeps some columns of a state within lower ≤ z ≤ upper, as diodes to two rails do. A relaxation step is then z ←
/// P(z + ε F(z)) with P the projection onto the box. Only m ⊙ F can move the state. m = 0 where z rests on a bound and F
/// pushes it outwards or not at all: (z ≤ lower and F ≤ 0) or (z ≥ upper and F ≥ 0). Else m = 1. This is a projected
/// gradient; Scellier & Bengio 2017, arXiv:1602.05179, clip their states so. NaN stays NaN.
template <class S>
class Box {
 public:
  struct Range {
    Columns columns;
    S lower, upper;  ///< −∞ and ∞ where there is no bound
  };

  Box() = default;
  /// Box of several ranges of columns, which must be disjoint.
  explicit Box(std::vector<Range> ranges) : ranges_(std::move(ranges)) {}

  struct Bounds {
    S lower = -std::numeric_limits<S>::infinity(), upper = std::numeric_limits<S>::infinity();
  };

  /// Bounds that all given columns share, infinite where none are set; nothing if the columns have different bounds.
  std::optional<Bounds> bounds(Columns within) const {
    Index bounded = 0;
    int pieces = 0;
    Bounds found;
    each(1, within, [&](Index, Index, Index count, S lower, S upper) {
      bounded += count;
      ++pieces;
      found = {lower, upper};
    });
    if (pieces > 1 || (pieces == 1 && bounded < within.count)) return std::nullopt;
    return found;
  }

  /// Projects z ← P(z) in the given columns of a state.
  void project(MatrixRef<S> z, Columns within) const {
    each(z.rows(), within, [&](Index row, Index begin, Index count, S lower, S upper) {
      S* x = &z(row, begin);
      for (Index i = 0; i < count; ++i) x[i] = x[i] < lower ? lower : (x[i] > upper ? upper : x[i]);
    });
  }

  /// Masks x ← m ⊙ x with the m of the force f at z, in the given columns. x may be f.
  void hold(ConstMatrixRef<S> z, ConstMatrixRef<S> f, MatrixRef<S> x, Columns within) const {
    each(z.rows(), within, [&](Index row, Index begin, Index count, S lower, S upper) {
      for (Index i = begin; i < begin + count; ++i) {
        const S at = z(row, i), push = f(row, i);
        if ((at <= lower && push <= 0) || (at >= upper && push >= 0)) x(row, i) = 0;
      }
    });
  }

  /// Takes one relaxation step in the given columns, z ← P(z + scale m ⊙ f), and sets f ← m ⊙ f: in one pass where the box bounds them all.
  void step(MatrixRef<S> z, MatrixRef<S> f, S scale, Columns within) const {
    Index bounded = 0;
    each(1, within, [&](Index, Index, Index count, S, S) { bounded += count; });
    if (bounded < within.count) {
      hold(z, f, f, within);
      z.middleCols(within.begin, within.count) += scale * f.middleCols(within.begin, within.count);
      return project(z, within);
    }
    each(z.rows(), within, [&](Index row, Index begin, Index count, S lower, S upper) {
      S* x = &z(row, begin);
      S* push = &f(row, begin);
      for (Index i = 0; i < count; ++i) {
        const bool held = ((x[i] <= lower) & (push[i] <= 0)) | ((x[i] >= upper) & (push[i] >= 0));
        push[i] = held ? S(0) : push[i];
        const S next = x[i] + scale * push[i];
        x[i] = next < lower ? lower : (next > upper ? upper : next);
      }
    });
  }

  /// Pulls back u ← (∂P/∂z)ᵀ u through the projection that ended in z: 1 inside, 0 where z rests on a bound.
  void pull_back(ConstMatrixRef<S> z, MatrixRef<S> u) const {
    each(z.rows(), {0, z.cols()}, [&](Index row, Index begin, Index count, S lower, S upper) {
      for (Index i = begin; i < begin + count; ++i) {
        if (z(row, i) <= lower || z(row, i) >= upper) u(row, i) = 0;
      }
    });
  }

 private:
  template <class Act>
  void each(Index rows, Columns within, Act act) const {
    for (const Range& range : ranges_) {
      const Index begin = std::max(range.columns.begin, within.begin);
      const Index count = std::min(range.columns.end(), within.end()) - begin;
      for (Index row = 0; count > 0 && row < rows; ++row) act(row, begin, count, range.lower, range.upper);
    }
  }

  std::vector<Range> ranges_;
};

}  // namespace nudge
