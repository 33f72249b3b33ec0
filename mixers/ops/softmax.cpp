// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/softmax.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/base/softmax.hpp"

namespace nudge {

template <class S>
void softmax_rows(const Matrix<S>& scores, const Mask& mask, Matrix<S>& p, Matrix<S>& normaliser) {
  p.resize(scores.rows(), scores.cols());
  normaliser.resize(scores.rows(), 1);
  for (Index t = 0; t < scores.rows(); ++t) {
    const Mask::Run run = mask.run(t);
    auto out = p.row(t).segment(run.begin, run.count);
    p.row(t).head(run.begin).setZero();
    p.row(t).tail(p.cols() - run.begin - run.count).setZero();
    const auto unattended_become = [&](S value) {
      for (Index i = 0; !run.whole && i < run.count; ++i) {
        if (mask.row(t)[run.begin + i] == 0) out(i) = value;
      }
    };
    out = scores.row(t).segment(run.begin, run.count);
    unattended_become(std::numeric_limits<S>::lowest());
    normaliser(t, 0) = softmax_row(out);
    unattended_become(0);  // what vectorised exponentials leave of them may not be
  }
}

template <class S>
void softmax_jacobian_rows(const Matrix<S>& p, const Matrix<S>& d, Matrix<S>& y) {
  y = d;
  for (Index t = 0; t < p.rows(); ++t) softmax_derivative_row(p.row(t), y.row(t));
}

namespace {

template <class S>
class Softmax final : public Operation<S> {
 public:
  explicit Softmax(const Mask& mask) : mask_(mask) {}
  std::string_view name() const override { return "softmax"; }
  void forward(Arguments<S> x, Matrix<S>& y) override { softmax_rows(*x[0], mask_, y, normaliser_); }
  void jvp(Arguments<S> /*x*/, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const override {
    softmax_jacobian_rows(y, *dx[0], dy);
  }
  void vjp(Arguments<S> /*x*/, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const override {
    if (dx[0] == nullptr) return;
    if (dx[0].take() == Store::assign) return softmax_jacobian_rows(y, dy, *dx[0]);
    Matrix<S> ds;
    softmax_jacobian_rows(y, dy, ds);
    *dx[0] += ds;
  }

 private:
  Mask mask_;
  Matrix<S> normaliser_;
};

template <class S>
class LogSumExp final : public Operation<S> {
 public:
  explicit LogSumExp(const Mask& mask) : mask_(mask) {}
  std::string_view name() const override { return "log_sum_exp"; }
  void forward(Arguments<S> x, Matrix<S>& y) override { softmax_rows(*x[0], mask_, p_, y); }
  void jvp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, Arguments<S> dx, Matrix<S>& dy) const override {
    for (Index t = 0; t < p_.rows(); ++t) dy(t, 0) = p_.row(t).dot(dx[0]->row(t));
  }
  void vjp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, const Matrix<S>& dy, Cotangents<S> dx) const override {
    if (dx[0] == nullptr) return;
    for (Index t = 0; t < p_.rows(); ++t) dx[0]->row(t) += dy(t, 0) * p_.row(t);
  }

 private:
  Mask mask_;
  Matrix<S> p_;
};

template <class S>
class Masked final : public Operation<S> {
 public:
  explicit Masked(const Mask& mask) : mask_(mask) {}
  std::string_view name() const override { return "masked"; }
  void forward(Arguments<S> x, Matrix<S>& y) override {
    y.resize(x[0]->rows(), x[0]->cols());
    copy(*x[0], y);
  }
  void jvp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, Arguments<S> dx, Matrix<S>& dy) const override {
    copy(*dx[0], dy);
  }
  void vjp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, const Matrix<S>& dy, Cotangents<S> dx) const override {
    if (dx[0] == nullptr) return;
    for (Index t = 0; t < dy.rows(); ++t) {
      for (Index i = 0; i < dy.cols(); ++i) (*dx[0])(t, i) += mask_(t, i) ? dy(t, i) : S(0);
    }
  }

 private:
  void copy(const Matrix<S>& x, Matrix<S>& y) const {
    for (Index t = 0; t < x.rows(); ++t) {
      for (Index i = 0; i < x.cols(); ++i) y(t, i) = mask_(t, i) ? x(t, i) : S(0);
    }
  }

  Mask mask_;
};

template <class S>
void expect_shape(const Value<S>& x, const Mask& mask) {
  NUDGE_EXPECT(x.rows() == mask.queries() && x.cols() == mask.keys());
  static_cast<void>(x);
  static_cast<void>(mask);
}

}  // namespace

template <class S>
Value<S> softmax(Value<S> scores, const Mask& mask) {
  expect_shape(scores, mask);
  return scores.tape->record(std::make_unique<Softmax<S>>(mask), {scores});
}

template <class S>
Value<S> log_sum_exp(Value<S> scores, const Mask& mask) {
  expect_shape(scores, mask);
  return scores.tape->record(std::make_unique<LogSumExp<S>>(mask), {scores});
}

template <class S>
Value<S> masked(Value<S> x, const Mask& mask) {
  expect_shape(x, mask);
  return x.tape->record(std::make_unique<Masked<S>>(mask), {x});
}

#define NUDGE_SOFTMAX(S)                                                                \
  template Value<S> softmax<S>(Value<S>, const Mask&);                                  \
  template Value<S> log_sum_exp<S>(Value<S>, const Mask&);                              \
  template Value<S> masked<S>(Value<S>, const Mask&);                                   \
  template void softmax_rows<S>(const Matrix<S>&, const Mask&, Matrix<S>&, Matrix<S>&); \
  template void softmax_jacobian_rows<S>(const Matrix<S>&, const Matrix<S>&, Matrix<S>&);
NUDGE_BOTH_PRECISIONS(NUDGE_SOFTMAX)

namespace {

template <class S>
class CrossEntropy final : public Operation<S> {
 public:
  explicit CrossEntropy(SharedIndices targets) : targets_(std::move(targets)) {}
  std::string_view name() const override { return "cross_entropy"; }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    slope_ = *x[0];
    y.setZero(1, 1);
    for (Index t = 0; t < slope_.rows(); ++t) {
      const int target = (*targets_)[static_cast<std::size_t>(t)];
      if (target < 0) {
        slope_.row(t).setZero();
        continue;
      }
      y(0, 0) += cross_entropy_row(slope_.row(t), target);
    }
  }
  void jvp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, Arguments<S> dx, Matrix<S>& dy) const override {
    dy(0, 0) = slope_.cwiseProduct(*dx[0]).sum();
  }
  void vjp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, const Matrix<S>& dy, Cotangents<S> dx) const override {
    if (dx[0] != nullptr) *dx[0] += dy(0, 0) * slope_;
  }

 private:
  SharedIndices targets_;
  Matrix<S> slope_;  ///< softmax − one-hot
};

}  // namespace

template <class S>
Value<S> cross_entropy(Value<S> logits, std::vector<int> targets) {
  return cross_entropy(logits, std::make_shared<const std::vector<int>>(std::move(targets)));
}

template <class S>
Value<S> cross_entropy(Value<S> logits, SharedIndices targets) {
  NUDGE_EXPECT(static_cast<Index>(targets->size()) == logits.rows());
  NUDGE_EXPECT(std::all_of(targets->begin(), targets->end(), [&](int k) { return k >= -1 && k < logits.cols(); }));
  return logits.tape->record(std::make_unique<CrossEntropy<S>>(std::move(targets)), {logits});
}

template Value<float> cross_entropy<float>(Value<float>, std::vector<int>);
template Value<double> cross_entropy<double>(Value<double>, std::vector<int>);
template Value<float> cross_entropy<float>(Value<float>, SharedIndices);
template Value<double> cross_entropy<double>(Value<double>, SharedIndices);

}  // namespace nudge
