// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/softmax.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/base/softmax.hpp"

namespace nudge {
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
