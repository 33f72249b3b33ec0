// SPDX-License-Identifier: Apache-2.0
#include "training/learning/squared_error.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
void SquaredError<S>::bind(ConstMatrixRef<S> targets) {
  NUDGE_EXPECT(targets.cols() == node_.count);
  targets_ = targets;
  ignored_.clear();
}

template <class S>
void SquaredError<S>::bind(const Batch& batch, Index example, const ReadContext& read) {
  read_ = read;
  ignored_.clear();
  for (Index t = 0; t < batch.tokens; ++t) {
    if (!batch.counts(example * batch.tokens + t)) ignored_.push_back(t);
  }
  if (batch.values.size() > 0) {
    NUDGE_EXPECT(batch.values.cols() == node_.count);
    targets_ = batch.values_of(example).template cast<S>();
    return;
  }
  targets_.setZero(batch.tokens, node_.count);
  const auto classes = batch.targets_of(example);
  for (Index t = 0; t < batch.tokens; ++t) {
    const Index of = classes[static_cast<std::size_t>(t)];
    if (of == Batch::kIgnored) continue;
    NUDGE_EXPECT(of >= 0 && of < node_.count);
    targets_(t, of) = S(1);
  }
}

template <class S>
double SquaredError<S>::value(ConstMatrixRef<S> z) {
  NUDGE_EXPECT(z.rows() == targets_.rows());
  output_ = z.middleCols(node_.begin, node_.count);
  if (other_ != nullptr) return counted_value<S>(*other_, output_, targets_, ignored_);
  error_ = output_ - targets_;
  for (const Index t : ignored_) error_.row(t).setZero();
  return 0.5 * error_.template cast<double>().squaredNorm();
}

template <class S>
void SquaredError<S>::gradient(ConstMatrixRef<S> z, MatrixRef<S> out) {
  out.setZero();
  own_gradient(z, out);
}

template <class S>
void SquaredError<S>::own_gradient(ConstMatrixRef<S> z, MatrixRef<S> out) {
  NUDGE_EXPECT(z.rows() % targets_.rows() == 0);
  for (Index row = 0; row < z.rows(); row += targets_.rows()) {
    const auto own = z.middleRows(row, targets_.rows()).middleCols(node_.begin, node_.count);
    auto into = out.middleRows(row, targets_.rows()).middleCols(node_.begin, node_.count);
    if (other_ != nullptr) {
      counted_gradient<S>(*other_, own, targets_, ignored_, into);
      continue;
    }
    into = own - targets_;
    for (const Index t : ignored_) out.row(row + t).middleCols(node_.begin, node_.count).setZero();
  }
}

NUDGE_BOTH_PRECISIONS_OF(SquaredError)

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
