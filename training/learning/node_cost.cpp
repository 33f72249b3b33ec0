// SPDX-License-Identifier: Apache-2.0
#include "training/learning/cost.hpp"

#include <algorithm>

namespace nudge {
namespace {

/// Picks the rows that count, in double.
template <class S>
Matrix<double> counted(ConstMatrixRef<S> rows, const std::vector<Index>& ignored) {
  Matrix<double> out(rows.rows() - static_cast<Index>(ignored.size()), rows.cols());
  Index next = 0;
  for (Index t = 0; t < rows.rows(); ++t) {
    if (!std::binary_search(ignored.begin(), ignored.end(), t)) out.row(next++) = rows.row(t).template cast<double>();
  }
  return out;
}

}  // namespace

template <class S>
double counted_value(const NodeCost& cost, ConstMatrixRef<S> y, ConstMatrixRef<S> target,
                     const std::vector<Index>& ignored) {
  return cost.value(counted<S>(y, ignored), counted<S>(target, ignored));
}

template <class S>
void counted_gradient(const NodeCost& cost, ConstMatrixRef<S> y, ConstMatrixRef<S> target,
                      const std::vector<Index>& ignored, MatrixRef<S> out) {
  const Matrix<double> found = cost.gradient(counted<S>(y, ignored), counted<S>(target, ignored));
  out.setZero();
  Index next = 0;
  for (Index t = 0; t < y.rows(); ++t) {
    if (!std::binary_search(ignored.begin(), ignored.end(), t)) out.row(t) = found.row(next++).template cast<S>();
  }
}

#define NUDGE_NODE_COST(S)                                                                                            \
  template double counted_value<S>(const NodeCost&, ConstMatrixRef<S>, ConstMatrixRef<S>, const std::vector<Index>&); \
  template void counted_gradient<S>(const NodeCost&, ConstMatrixRef<S>, ConstMatrixRef<S>, const std::vector<Index>&, \
                                    MatrixRef<S>);
NUDGE_BOTH_PRECISIONS(NUDGE_NODE_COST)

}  // namespace nudge
