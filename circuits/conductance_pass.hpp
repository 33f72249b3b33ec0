// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/matrix.hpp"

namespace nudge {

/// Whose sums a pass over conductances makes.
enum class PassSums { columns, rows_and_columns };

namespace detail {

/// Columns j to j + Lanes of N rows from row i on; the sums of the columns are read and written once for all rows.
template <int Lanes, int N, PassSums kSums, class S, class Change>
void pass_columns(S* g, Index cols, Index i, Index j, const Change& change, Eigen::Array<S, Lanes, 1>* totals,
                  S* column_sums) {
  using Numbers = Eigen::Array<S, Lanes, 1>;
  const auto changed = change.template at<Lanes>(j);
  Eigen::Map<Numbers> sums(column_sums + j);
  Numbers column = sums;
  for (int n = 0; n < N; ++n) {
    Eigen::Map<Numbers> row(g + (i + n) * cols + j);
    const Numbers next = changed(i + n, row);
    row = next;
    if constexpr (kSums == PassSums::rows_and_columns) totals[n] += next;
    column += next;
  }
  sums = column;
}

template <int N, PassSums kSums, class S, class Change>
void pass_rows(S* g, Index cols, Index i, const Change& change, S* row_sums, S* column_sums) {
  constexpr int kLanes = 32 / sizeof(S), kHalf = kLanes / 2;
  Eigen::Array<S, kLanes, 1> totals[N];
  Eigen::Array<S, kHalf, 1> halves[N];
  Eigen::Array<S, 1, 1> rest[N];
  for (int n = 0; n < N; ++n) {
    totals[n].setZero();
    halves[n].setZero();
    rest[n].setZero();
  }
  Index j = 0;
  for (; j + kLanes <= cols; j += kLanes) pass_columns<kLanes, N, kSums>(g, cols, i, j, change, totals, column_sums);
  if (j + kHalf <= cols) {
    pass_columns<kHalf, N, kSums>(g, cols, i, j, change, halves, column_sums);
    j += kHalf;
  }
  for (; j < cols; ++j) pass_columns<1, N, kSums>(g, cols, i, j, change, rest, column_sums);
  if constexpr (kSums == PassSums::columns) return;
  for (int n = 0; n < N; ++n) row_sums[i + n] = totals[n].sum() + halves[n].sum() + rest[n].sum();
}

}  // namespace detail

/// One pass over the conductances g (inputs, outputs): g_ij ← change(i, j, g_ij), and the sums of what they became, of every column
/// (outputs) and, where kSums says so, of every row (inputs). `change.at<Lanes>(j)` is what (i, g) → new g does to columns j to
/// j + Lanes of row i, Eigen arrays of Lanes numbers.
template <PassSums kSums, class S, class Change>
void pass_conductances(Matrix<S>& g, const Change& change, S* row_sums, S* column_sums) {
  constexpr int kTogether = kSums == PassSums::columns ? 8 : 4;  // rows whose totals stay in registers
  Eigen::Map<Eigen::Array<S, Eigen::Dynamic, 1>>(column_sums, g.cols()).setZero();
  Index i = 0;
  for (; i + kTogether <= g.rows(); i += kTogether) {
    detail::pass_rows<kTogether, kSums>(g.data(), g.cols(), i, change, row_sums, column_sums);
  }
  for (; i < g.rows(); ++i) detail::pass_rows<1, kSums>(g.data(), g.cols(), i, change, row_sums, column_sums);
}

/// What a conductance that would be below 0 becomes; what is no number stays so and is noticed.
template <class Numbers>
Numbers at_least_zero(const Numbers& g) {
  return g.max(typename Numbers::Scalar(0));
}

}  // namespace nudge
