// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/operations.hpp"

#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

template <class S>
class Solve final : public Operation<S> {
 public:
  std::string_view name() const override { return "solve"; }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    factors_.compute(*x[0]);
    y = factors_.solve(*x[1]);
  }
  /// Computes dX = A⁻¹ (dB − dA X).
  void jvp(Arguments<S> x, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const override {
    Matrix<S> right = Matrix<S>::Zero(x[1]->rows(), x[1]->cols());
    if (dx[1] != nullptr) right = *dx[1];
    if (dx[0] != nullptr) right -= *dx[0] * y;
    dy = factors_.solve(right);
  }
  /// Pulls back U: Λ = A⁻ᵀ U, dB += Λ, dA −= Λ Xᵀ.
  void vjp(Arguments<S> /*x*/, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const override {
    const Matrix<S> multiplier = factors_.solve_transposed(dy);
    if (dx[1] != nullptr) *dx[1] += multiplier;
    if (dx[0] != nullptr) *dx[0] -= multiplier * y.transpose();
  }

 private:
  LuFactors<S> factors_;
};

template <class S>
class CovarianceSolve final : public Operation<S> {
 public:
  CovarianceSolve(S alpha, S gamma) : alpha_(alpha), gamma_(gamma) {}

  std::string_view name() const override { return "covariance_solve"; }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    const Matrix<S>& p = *x[0];
    const Matrix<S>& k = *x[1];
    mean_ = p * k;
    y.resize(x[2]->rows(), x[2]->cols());
    factors_.resize(static_cast<std::size_t>(p.rows()));
    for (Index t = 0; t < p.rows(); ++t) {
      Matrix<S> a = gamma_ * (k.transpose() * p.row(t).asDiagonal() * k - mean_.row(t).transpose() * mean_.row(t));
      a.diagonal().array() += alpha_;
      factors_[static_cast<std::size_t>(t)].compute(a);
      y.row(t) = solve(t, x[2]->row(t));
    }
  }

  /// Computes dx_t = A_t⁻¹ (dr_t − γ dCov_t x_t).
  void jvp(Arguments<S> x, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const override {
    const Matrix<S>& p = *x[0];
    const Matrix<S>& k = *x[1];
    Matrix<S> right = Matrix<S>::Zero(y.rows(), y.cols());
    if (dx[2] != nullptr) right = *dx[2];
    for (Index t = 0; t < y.rows(); ++t) {
      const Vector z = y.row(t).transpose();
      const Vector along = k * z;  // k_i·x
      Vector change = Vector::Zero(z.size());
      Vector mean_change = Vector::Zero(z.size());
      if (dx[0] != nullptr) {
        const Vector dp = dx[0]->row(t).transpose();
        change += k.transpose() * dp.cwiseProduct(along);
        mean_change += k.transpose() * dp;
      }
      if (dx[1] != nullptr) {
        const Vector weights = p.row(t).transpose();
        change += dx[1]->transpose() * weights.cwiseProduct(along) + k.transpose() * weights.cwiseProduct(*dx[1] * z);
        mean_change += dx[1]->transpose() * weights;
      }
      const Vector mean = mean_.row(t).transpose();
      change -= mean_change * mean.dot(z) + mean * mean_change.dot(z);
      right.row(t) -= gamma_ * change.transpose();
      dy.row(t) = solve(t, right.row(t));
    }
  }

  /// Pulls back u: λ_t = A_t⁻¹ u_t, dr_t += λ_t; the rest is −γ times the derivative of λ_tᵀ Cov_t x_t with λ and x fixed.
  void vjp(Arguments<S> x, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const override {
    const Matrix<S>& p = *x[0];
    const Matrix<S>& k = *x[1];
    for (Index t = 0; t < y.rows(); ++t) {
      const Vector multiplier = solve(t, dy.row(t)).transpose();
      if (dx[2] != nullptr) dx[2]->row(t) += multiplier.transpose();
      const Vector z = y.row(t).transpose();
      const Vector mean = mean_.row(t).transpose();
      const S mean_z = mean.dot(z);
      const S mean_l = mean.dot(multiplier);
      const Vector along_z = k * z;
      const Vector along_l = k * multiplier;
      if (dx[0] != nullptr) {
        const Vector dp = along_l.cwiseProduct(along_z) - along_l * mean_z - along_z * mean_l;
        dx[0]->row(t) -= gamma_ * dp.transpose();
      }
      if (dx[1] == nullptr) continue;
      for (Index i = 0; i < k.rows(); ++i) {
        const S weight = gamma_ * p(t, i);
        dx[1]->row(i) -= weight * ((along_z(i) - mean_z) * multiplier + (along_l(i) - mean_l) * z).transpose();
      }
    }
  }

 private:
  using Vector = Eigen::Matrix<S, Eigen::Dynamic, 1>;

  Matrix<S> solve(Index t, const Eigen::Ref<const Eigen::Matrix<S, 1, Eigen::Dynamic>>& right) const {
    return factors_[static_cast<std::size_t>(t)].solve(right.transpose()).transpose();
  }

  S alpha_, gamma_;
  Matrix<S> mean_;
  std::vector<LuFactors<S>> factors_;
};

}  // namespace

template <class S>
Value<S> solve(Value<S> a, Value<S> b) {
  NUDGE_EXPECT(a.rows() == a.cols() && a.rows() == b.rows());
  return a.tape->record(std::make_unique<Solve<S>>(), {a, b});
}

template <class S>
Value<S> covariance_solve(Value<S> p, Value<S> k, Value<S> r, double alpha, double gamma) {
  NUDGE_EXPECT(p.cols() == k.rows() && p.rows() == r.rows() && k.cols() == r.cols());
  return p.tape->record(std::make_unique<CovarianceSolve<S>>(static_cast<S>(alpha), static_cast<S>(gamma)), {p, k, r});
}

#define NUDGE_SOLVE(S)                            \
  template Value<S> solve<S>(Value<S>, Value<S>); \
  template Value<S> covariance_solve<S>(Value<S>, Value<S>, Value<S>, double, double);
NUDGE_BOTH_PRECISIONS(NUDGE_SOLVE)

}  // namespace nudge
