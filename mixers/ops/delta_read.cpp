// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/reads.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Arguments of delta_read in their order.
enum DeltaArgument : std::uint8_t { query, key, value, rate, log_decay };

template <class S>
class DeltaRead final : public Operation<S> {
 public:
  std::string_view name() const override { return "delta_read"; }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    const Index tokens = x[query]->rows();
    y.resize(tokens, x[value]->cols());
    memory_.resize(static_cast<std::size_t>(tokens) + 1);
    memory_.front().setZero(x[query]->cols(), x[value]->cols());
    for (Index t = 0; t < tokens; ++t) {
      const auto at = static_cast<std::size_t>(t);
      const auto k = x[key]->row(t);
      Matrix<S>& now = memory_[at + 1];
      now = std::exp((*x[log_decay])(t, 0)) * memory_[at];
      error_ = x[value]->row(t) - k * now;
      now += (*x[rate])(t, 0) * k.transpose() * error_;
      y.row(t) = x[query]->row(t) * now;
    }
  }

  void jvp(Arguments<S> x, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const override {
    Matrix<S> change = Matrix<S>::Zero(x[query]->cols(), y.cols()), left, error, d_error;
    for (Index t = 0; t < y.rows(); ++t) {
      const auto at = static_cast<std::size_t>(t);
      const auto k = x[key]->row(t);
      const S decay = std::exp((*x[log_decay])(t, 0)), beta = (*x[rate])(t, 0);
      left = decay * memory_[at];
      change *= decay;
      if (dx[log_decay] != nullptr) change += (*dx[log_decay])(t, 0) * left;
      error = x[value]->row(t) - k * left;
      d_error = -k * change;
      if (dx[value] != nullptr) d_error += dx[value]->row(t);
      if (dx[key] != nullptr) d_error -= dx[key]->row(t) * left;
      change += beta * k.transpose() * d_error;
      if (dx[key] != nullptr) change += beta * dx[key]->row(t).transpose() * error;
      if (dx[rate] != nullptr) change += (*dx[rate])(t, 0) * k.transpose() * error;
      dy.row(t) = x[query]->row(t) * change;
      if (dx[query] != nullptr) dy.row(t) += dx[query]->row(t) * memory_[at + 1];
    }
  }

  void vjp(Arguments<S> x, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const override {
    Matrix<S> adjoint = Matrix<S>::Zero(x[query]->cols(), y.cols()), left, error, d_error;
    for (Index t = y.rows(); t-- > 0;) {
      const auto at = static_cast<std::size_t>(t);
      const auto k = x[key]->row(t);
      const S decay = std::exp((*x[log_decay])(t, 0)), beta = (*x[rate])(t, 0);
      left = decay * memory_[at];
      error = x[value]->row(t) - k * left;
      adjoint += x[query]->row(t).transpose() * dy.row(t);
      d_error = beta * k * adjoint;
      if (dx[query] != nullptr) dx[query]->row(t) += dy.row(t) * memory_[at + 1].transpose();
      if (dx[key] != nullptr) dx[key]->row(t) += error * (beta * adjoint.transpose()) - d_error * left.transpose();
      if (dx[value] != nullptr) dx[value]->row(t) += d_error;
      if (dx[rate] != nullptr) (*dx[rate])(t, 0) += (k * adjoint * error.transpose())(0, 0);
      adjoint -= k.transpose() * d_error;
      if (dx[log_decay] != nullptr) (*dx[log_decay])(t, 0) += adjoint.cwiseProduct(left).sum();
      adjoint *= decay;
    }
  }

  double operations(Arguments<S> x, const Matrix<S>& y) const override {
    return 4.0 * static_cast<double>(y.size()) * static_cast<double>(x[query]->cols());
  }

 private:
  std::vector<Matrix<S>> memory_;  ///< M_0 … M_T
  Matrix<S> error_;
};

template <class S>
class CausalConvolution final : public Operation<S> {
 public:
  std::string_view name() const override { return "causal_convolution"; }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    y.setZero(x[0]->rows(), x[0]->cols());
    add(*x[0], *x[1], y);
  }

  void jvp(Arguments<S> x, const Matrix<S>& /*y*/, Arguments<S> dx, Matrix<S>& dy) const override {
    dy.setZero();
    if (dx[0] != nullptr) add(*dx[0], *x[1], dy);
    if (dx[1] != nullptr) add(*x[0], *dx[1], dy);
  }

  void vjp(Arguments<S> x, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const override {
    const Index tokens = y.rows();
    for (Index j = 0; j < lags(*x[0], *x[1]); ++j) {
      const auto late = dy.bottomRows(tokens - j);
      if (dx[0] != nullptr) {
        dx[0]->topRows(tokens - j).array() += late.array().rowwise() * x[1]->row(j).array();
      }
      if (dx[1] != nullptr) {
        dx[1]->row(j) += late.cwiseProduct(x[0]->topRows(tokens - j)).colwise().sum();
      }
    }
  }

  double operations(Arguments<S> x, const Matrix<S>& y) const override {
    return static_cast<double>(y.size()) * static_cast<double>(lags(*x[0], *x[1]));
  }

 private:
  static Index lags(const Matrix<S>& x, const Matrix<S>& filter) { return std::min(x.rows(), filter.rows()); }
  static void add(const Matrix<S>& x, const Matrix<S>& filter, Matrix<S>& y) {
    const Index tokens = x.rows();
    for (Index j = 0; j < lags(x, filter); ++j) {
      y.bottomRows(tokens - j).array() += x.topRows(tokens - j).array().rowwise() * filter.row(j).array();
    }
  }
};

}  // namespace

template <class S>
Value<S> delta_read(Value<S> q, Value<S> k, Value<S> v, Value<S> beta, Value<S> g) {
  NUDGE_EXPECT(q.cols() == k.cols() && q.rows() == k.rows() && q.rows() == v.rows());
  NUDGE_EXPECT(beta.rows() == q.rows() && beta.cols() == 1 && g.rows() == q.rows() && g.cols() == 1);
  return q.tape->record(std::make_unique<DeltaRead<S>>(), {q, k, v, beta, g});
}

template <class S>
Value<S> causal_convolution(Value<S> x, Value<S> filter) {
  NUDGE_EXPECT(x.cols() == filter.cols());
  return x.tape->record(std::make_unique<CausalConvolution<S>>(), {x, filter});
}

#define NUDGE_DELTA_READ(S)                                                          \
  template Value<S> delta_read<S>(Value<S>, Value<S>, Value<S>, Value<S>, Value<S>); \
  template Value<S> causal_convolution<S>(Value<S>, Value<S>);
NUDGE_BOTH_PRECISIONS(NUDGE_DELTA_READ)

}  // namespace nudge
