// SPDX-License-Identifier: Apache-2.0
#include "sim/base/product.hpp"

#include <Eigen/Dense>
#include <type_traits>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

enum class Transposed { neither, left, right };

/// C = ± scale op(A) op(B), stored, added or subtracted, by the library; false when Eigen shall form it.
template <class S>
bool by_library(ConstMatrixRef<S> a, ConstMatrixRef<S> b, Transposed transposed, S scale, MatrixRef<S>& c,
                Store store) {
  if constexpr (std::is_same_v<S, float>) {
    const bool left = transposed == Transposed::left;
    return detail::multiply_by_library({left, transposed == Transposed::right, c.rows(), c.cols(),
                                        left ? a.rows() : a.cols(), store == Store::subtract ? -scale : scale, a.data(),
                                        a.outerStride(), b.data(), b.outerStride(),
                                        store == Store::assign ? 0.0F : 1.0F, c.data(), c.outerStride()});
  } else {
    return false;
  }
}

}  // namespace

template <class S>
void multiply(ConstMatrixRef<S> x, ConstMatrixRef<S> w, MatrixRef<S> y, Store store) {
  NUDGE_EXPECT(x.cols() == w.rows() && y.rows() == x.rows() && y.cols() == w.cols());
  if (by_library<S>(x, w, Transposed::neither, S(1), y, store)) return;
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
  if (by_library<S>(y, w, Transposed::right, S(1), x, store)) return;
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
  if (by_library<S>(x, y, Transposed::left, scale, g, store)) return;
  if (store == Store::assign) g.setZero();
  g.noalias() += (store == Store::subtract ? -scale : scale) * x.transpose() * y;
}

#define NUDGE_BASE_PRODUCT(S)                                                                      \
  template void multiply<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, MatrixRef<S>, Store);            \
  template void multiply_transposed<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, MatrixRef<S>, Store); \
  template void multiply_outer<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, S, MatrixRef<S>, Store);
NUDGE_BOTH_PRECISIONS(NUDGE_BASE_PRODUCT)

}  // namespace nudge
