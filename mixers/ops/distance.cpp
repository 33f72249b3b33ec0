// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/operations.hpp"

#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"

namespace nudge {
namespace {

template <class S>
class SquaredDistance final : public Operation<S> {
 public:
  std::string_view name() const override { return "squared_distance"; }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    const Matrix<S>& q = *x[0];
    const Matrix<S>& k = *x[1];
    y.resize(q.rows(), k.rows());
    multiply_transposed<S>(q, k, y);
    for (Index t = 0; t < y.rows(); ++t) {
      const S own = q.row(t).squaredNorm();
      for (Index i = 0; i < y.cols(); ++i) y(t, i) = own + k.row(i).squaredNorm() - S(2) * y(t, i);
    }
  }

  /// Computes dD_ti = 2 (q_t − k_i)·(dq_t − dk_i).
  void jvp(Arguments<S> x, const Matrix<S>& /*y*/, Arguments<S> dx, Matrix<S>& dy) const override {
    dy.setZero();
    if (dx[0] != nullptr) add_one_side(*x[0], *dx[0], *x[1], dy);
    if (dx[1] == nullptr) return;
    Matrix<S> turned = Matrix<S>::Zero(dy.cols(), dy.rows());
    add_one_side(*x[1], *dx[1], *x[0], turned);
    dy += turned.transpose();
  }

  void vjp(Arguments<S> x, const Matrix<S>& /*y*/, const Matrix<S>& dy, Cotangents<S> dx) const override {
    if (dx[0] != nullptr) pull_one_side(dy, *x[0], *x[1], *dx[0]);
    if (dx[1] != nullptr) pull_one_side(dy.transpose(), *x[1], *x[0], *dx[1]);
  }

 private:
  /// Adds 2 da_t·(a_t − b_i) to out_ti.
  static void add_one_side(const Matrix<S>& a, const Matrix<S>& da, const Matrix<S>& b, Matrix<S>& out) {
    Matrix<S> cross(a.rows(), b.rows());
    multiply_transposed<S>(da, b, cross);
    for (Index t = 0; t < out.rows(); ++t) {
      const S own = da.row(t).dot(a.row(t));
      for (Index i = 0; i < out.cols(); ++i) out(t, i) += S(2) * (own - cross(t, i));
    }
  }

  /// Adds 2 Σ_i u_ti (a_t − b_i) to da_t.
  static void pull_one_side(const Matrix<S>& u, const Matrix<S>& a, const Matrix<S>& b, Matrix<S>& da) {
    const Matrix<S> twice = S(2) * u;
    multiply<S>(twice, b, da, Store::subtract);
    for (Index t = 0; t < a.rows(); ++t) da.row(t) += twice.row(t).sum() * a.row(t);
  }
};

}  // namespace

template <class S>
Value<S> squared_distance(Value<S> q, Value<S> k) {
  NUDGE_EXPECT(q.cols() == k.cols());
  return q.tape->record(std::make_unique<SquaredDistance<S>>(), {q, k});
}

template Value<float> squared_distance<float>(Value<float>, Value<float>);
template Value<double> squared_distance<double>(Value<double>, Value<double>);

}  // namespace nudge
