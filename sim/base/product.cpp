// SPDX-License-Identifier: Apache-2.0
#include "sim/base/product.hpp"

#include <Eigen/Dense>

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
void multiply(ConstMatrixRef<S> x, ConstMatrixRef<S> w, MatrixRef<S> y, Store store) {
  NUDGE_EXPECT(x.cols() == w.rows() && y.rows() == x.rows() && y.cols() == w.cols());
  if (store == Store::assign) {
    y.noalias() = x * w;
  } else if (store == Store::add) {
    y.noalias() += x * w;
  } else {
    y.noalias() -= x * w;
  }
}

template <class S>
void multiply_transposed(ConstMatrixRef<S> y, ConstMatrixRef<S> w, MatrixRef<S> x, Store store) {
  NUDGE_EXPECT(y.cols() == w.cols() && x.rows() == y.rows() && x.cols() == w.rows());
  if (store == Store::assign) {
    x.noalias() = y * w.transpose();
  } else if (store == Store::add) {
    x.noalias() += y * w.transpose();
  } else {
    x.noalias() -= y * w.transpose();
  }
}

template <class S>
void multiply_outer(ConstMatrixRef<S> x, ConstMatrixRef<S> y, S scale, MatrixRef<S> g, Store store) {
  NUDGE_EXPECT(x.rows() == y.rows() && g.rows() == x.cols() && g.cols() == y.cols());
  if (store == Store::assign) g.setZero();
  g.noalias() += (store == Store::subtract ? -scale : scale) * x.transpose() * y;
}

#define NUDGE_INSTANTIATE(S)                                                                       \
  template void multiply<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, MatrixRef<S>, Store);            \
  template void multiply_transposed<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, MatrixRef<S>, Store); \
  template void multiply_outer<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, S, MatrixRef<S>, Store);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
