// SPDX-License-Identifier: Apache-2.0
// Operations that are expressions of others: recorded so, they cost a training step no more than with derivatives written by hand
// (docs/project/add_a_part.md).
#include "mixers/ops/operations.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
Value<S> total(Value<S> x) {
  return row_sum(as_row(x));
}

template <class S>
Value<S> rms_norm(Value<S> x, Index groups, double epsilon) {
  NUDGE_EXPECT(groups >= 1 && x.cols() % groups == 0);
  const Index width = x.cols() / groups;
  std::vector<Value<S>> parts;
  for (Index begin = 0; begin < x.cols(); begin += width) {
    const Value<S> part = columns(x, begin, width);
    const Value<S> square = affine(row_sum(apply(Function::square, part)), 1 / static_cast<double>(width), epsilon);
    parts.push_back(part * apply(Function::inverse_root, square));
  }
  return join_columns(parts);
}

template <class S>
Value<S> layer_norm(Value<S> x, double epsilon) {
  return rms_norm<S>(x - affine(row_sum(x), 1 / static_cast<double>(x.cols())), 1, epsilon);
}

template <class S>
Value<S> squared_distance(Value<S> q, Value<S> k) {
  NUDGE_EXPECT(q.cols() == k.cols());
  const auto norms = [](Value<S> x) { return row_sum(apply(Function::square, x)); };
  return affine(product_nt(q, k), -2.0) + norms(q) + as_row(norms(k));
}

#define NUDGE_COMPOSED(S)                                 \
  template Value<S> total<S>(Value<S>);                   \
  template Value<S> rms_norm<S>(Value<S>, Index, double); \
  template Value<S> layer_norm<S>(Value<S>, double);      \
  template Value<S> squared_distance<S>(Value<S>, Value<S>);
NUDGE_BOTH_PRECISIONS(NUDGE_COMPOSED)

}  // namespace nudge
