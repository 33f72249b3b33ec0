// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/operations.hpp"

#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

enum class Centre { kept, removed };

/// Normalisation of blocks of columns. With y the result, n the block's width and r = 1/√(... + ε), the Jacobian of a block
/// is r (P − y yᵀ/n), where P = I, or I − 11ᵀ/n when the mean is removed. It is symmetric, so jvp and vjp are one formula.
template <class S>
class Normalize final : public Operation<S> {
 public:
  Normalize(Centre centre, Index groups, S epsilon) : centre_(centre), groups_(groups), epsilon_(epsilon) {}

  std::string_view name() const override { return "normalize"; }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    y = *x[0];
    inverse_.resize(y.rows(), groups_);
    const Index n = y.cols() / groups_;
    for (Index t = 0; t < y.rows(); ++t) {
      for (Index h = 0; h < groups_; ++h) {
        auto block = y.row(t).segment(h * n, n);
        if (centre_ == Centre::removed) block.array() -= block.mean();
        inverse_(t, h) = S(1) / std::sqrt(block.squaredNorm() / static_cast<S>(n) + epsilon_);
        block *= inverse_(t, h);
      }
    }
  }

  void jvp(Arguments<S> /*x*/, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const override {
    apply(y, *dx[0], dy, Store::assign);
  }

  void vjp(Arguments<S> /*x*/, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const override {
    if (dx[0] == nullptr) return;
    const Store store = dx[0].take();
    apply(y, dy, *dx[0], store);
  }

 private:
  void apply(const Matrix<S>& y, const Matrix<S>& d, Matrix<S>& out, Store store) const {
    const Index n = y.cols() / groups_;
    for (Index t = 0; t < y.rows(); ++t) {
      for (Index h = 0; h < groups_; ++h) {
        const auto unit = y.row(t).segment(h * n, n);
        const auto in = d.row(t).segment(h * n, n);
        const S mean = centre_ == Centre::removed ? in.mean() : S(0);
        const S along = unit.dot(in) / static_cast<S>(n);
        const auto pulled = inverse_(t, h) * (in.array() - mean - along * unit.array());
        auto to = out.row(t).segment(h * n, n).array();
        if (store == Store::assign) {
          to = pulled;
        } else {
          to += pulled;
        }
      }
    }
  }

  Centre centre_;
  Index groups_;
  S epsilon_;
  Matrix<S> inverse_;
};

}  // namespace

template <class S>
Value<S> layer_norm(Value<S> x, double epsilon) {
  return x.tape->record(std::make_unique<Normalize<S>>(Centre::removed, 1, static_cast<S>(epsilon)), {x});
}

template <class S>
Value<S> rms_norm(Value<S> x, Index groups, double epsilon) {
  NUDGE_EXPECT(groups >= 1 && x.cols() % groups == 0);
  return x.tape->record(std::make_unique<Normalize<S>>(Centre::kept, groups, static_cast<S>(epsilon)), {x});
}

#define NUDGE_NORMALIZE(S)                           \
  template Value<S> layer_norm<S>(Value<S>, double); \
  template Value<S> rms_norm<S>(Value<S>, Index, double);
NUDGE_BOTH_PRECISIONS(NUDGE_NORMALIZE)

}  // namespace nudge
