// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/operations.hpp"

#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

template <class S>
class DecayMatrix final : public Operation<S> {
 public:
  std::string_view name() const override { return "decay_matrix"; }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    const Matrix<S>& g = *x[0];
    y.setZero(g.rows(), g.rows());
    for (Index t = 0; t < g.rows(); ++t) {
      const S decay = std::exp(g(t, 0));
      for (Index i = 0; i < t; ++i) y(t, i) = decay * y(t - 1, i);
      y(t, t) = S(1);
    }
  }

  void jvp(Arguments<S> /*x*/, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const override {
    dy.setZero();
    for (Index t = 1; t < y.rows(); ++t) {
      S change = 0;
      for (Index i = t; i-- > 0;) {
        change += (*dx[0])(i + 1, 0);
        dy(t, i) = y(t, i) * change;
      }
    }
  }

  void vjp(Arguments<S> /*x*/, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const override {
    if (dx[0] == nullptr) return;
    for (Index t = 1; t < y.rows(); ++t) {
      S before = 0;
      for (Index i = 0; i < t; ++i) {
        before += dy(t, i) * y(t, i);
        (*dx[0])(i + 1, 0) += before;
      }
    }
  }
};

template <class S>
class DecayedSum final : public Operation<S> {
 public:
  explicit DecayedSum(Matrix<S>* stream) : stream_(stream) {}
  std::string_view name() const override { return "decayed_sum"; }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    const Matrix<S>& g = *x[0];
    y = *x[1];
    start_.setZero(1, y.cols());
    if (stream_ != nullptr && stream_->size() > 0) start_ = *stream_;
    for (Index t = 0; t < y.rows(); ++t) {
      for (Index c = 0; c < y.cols(); ++c) y(t, c) += std::exp(g(t, c)) * before(y, t, c);
    }
    if (stream_ != nullptr) *stream_ = y.bottomRows(1);
  }

  void jvp(Arguments<S> x, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const override {
    const Matrix<S>& g = *x[0];
    if (dx[1] != nullptr) {
      dy = *dx[1];
    } else {
      dy.setZero();
    }
    for (Index t = 0; t < y.rows(); ++t) {
      for (Index c = 0; c < y.cols(); ++c) {
        const S dg = dx[0] != nullptr ? (*dx[0])(t, c) : S(0);
        const S d_before = t > 0 ? dy(t - 1, c) : S(0);
        dy(t, c) += std::exp(g(t, c)) * (d_before + dg * before(y, t, c));
      }
    }
  }

  void vjp(Arguments<S> x, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const override {
    const Matrix<S>& g = *x[0];
    Matrix<S> carried = Matrix<S>::Zero(1, y.cols());
    for (Index t = y.rows(); t-- > 0;) {
      for (Index c = 0; c < y.cols(); ++c) {
        const S multiplier = dy(t, c) + carried(0, c);
        if (dx[1] != nullptr) (*dx[1])(t, c) += multiplier;
        carried(0, c) = std::exp(g(t, c)) * multiplier;
        if (dx[0] != nullptr) (*dx[0])(t, c) += carried(0, c) * before(y, t, c);
      }
    }
  }

 private:
  S before(const Matrix<S>& y, Index t, Index c) const { return t > 0 ? y(t - 1, c) : start_(0, c); }

  Matrix<S>* stream_;
  Matrix<S> start_;
};

}  // namespace

template <class S>
Value<S> decay_matrix(Value<S> g) {
  NUDGE_EXPECT(g.cols() == 1);
  return g.tape->record(std::make_unique<DecayMatrix<S>>(), {g});
}

template <class S>
Value<S> decayed_sum(Value<S> g, Value<S> u, Matrix<S>* stream) {
  NUDGE_EXPECT(g.rows() == u.rows() && g.cols() == u.cols());
  return g.tape->record(std::make_unique<DecayedSum<S>>(stream), {g, u});
}

#define NUDGE_DECAY(S)                         \
  template Value<S> decay_matrix<S>(Value<S>); \
  template Value<S> decayed_sum<S>(Value<S>, Value<S>, Matrix<S>*);
NUDGE_BOTH_PRECISIONS(NUDGE_DECAY)

}  // namespace nudge
