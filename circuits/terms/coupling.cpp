// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/coupling.hpp"

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
Matrix<S> coupling_matrix(const Matrix<S>& pattern, double symmetric, double antisymmetric) {
  NUDGE_EXPECT(pattern.rows() == pattern.cols());
  const S s = static_cast<S>(0.5 * (symmetric + antisymmetric));
  const S a = static_cast<S>(0.5 * (symmetric - antisymmetric));
  return s * pattern + a * pattern.transpose();
}

// Linear: nothing to remember of a point.
template <class S>
std::unique_ptr<TermPoint> Coupling<S>::make_point(Index /*tokens*/, Index /*max_copies*/) const {
  return std::make_unique<TermPoint>();
}

template <class S>
void Coupling<S>::force(ConstMatrixRef<S> h, ConstMatrixRef<S> dh, MatrixRef<S> /*g*/, MatrixRef<S> f,
                        TermPoint& /*point*/, ReadContext& /*read*/) const {
  f += h;
  if (dh.size() > 0) f -= dh;
}

template <class S>
void Coupling<S>::linearize(ConstMatrixRef<S> h, MatrixRef<S> /*g*/, MatrixRef<S> f, TermPoint& /*point*/,
                            ReadContext& /*read*/) const {
  f += h;
}

template <class S>
void Coupling<S>::jvp(ConstMatrixRef<S> dh, MatrixRef<S> /*g*/, MatrixRef<S> f, TermPoint& /*point*/,
                      ReadContext& /*read*/) const {
  f += dh;
}

template <class S>
void Coupling<S>::vjp(ConstMatrixRef<S> u, ConstMatrixRef<S> /*hu*/, MatrixRef<S> g, TermPoint& /*point*/,
                      ReadContext& /*read*/) const {
  g = u;
}

#define NUDGE_INSTANTIATE(S)                                               \
  template Matrix<S> coupling_matrix<S>(const Matrix<S>&, double, double); \
  template class Coupling<S>;
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
