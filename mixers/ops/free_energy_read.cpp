// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/free_energy_read.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mixers/ops/softmax.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"

namespace nudge {
namespace {

/// Terms of a sum that underflow are below min() each; a sum of up to 10⁶ of them is below the rounding of a total W
/// when W ≥ 10⁶ min()/ε.
template <class S>
constexpr S kSmallestSum = S(1e6) * std::numeric_limits<S>::min() / std::numeric_limits<S>::epsilon();

template <class S>
class FreeEnergyRead final : public Operation<S> {
 public:
  explicit FreeEnergyRead(const Mask& mask) : mask_(mask) {}

  std::string_view name() const override { return "free_energy_read"; }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    const Matrix<S>& v = *x[1];
    const Matrix<S>& beta = *x[2];
    const Index width = v.cols();
    softmax_rows(*x[0], mask_, p_, normaliser_);
    largest_.resize(1, width);
    both_.resize(v.rows(), 2 * width);
    both_.leftCols(width) = v;
    for (Index c = 0; c < width; ++c) {
      S largest = -std::numeric_limits<S>::infinity();
      for (Index i = 0; i < v.rows(); ++i) largest = std::max(largest, beta(0, c) * v(i, c));
      largest_(0, c) = largest;
      for (Index i = 0; i < v.rows(); ++i) both_(i, width + c) = std::exp(beta(0, c) * v(i, c) - largest);
    }
    y.resize(p_.rows(), 2 * width);
    multiply<S>(p_, both_, y);
    inverse_.resize(p_.rows(), width);
    exceptions_.clear();
    for (Index t = 0; t < y.rows(); ++t) {
      for (Index c = 0; c < width; ++c) {
        const S sum = y(t, width + c);
        if (sum >= kSmallestSum<S>) {
          inverse_(t, c) = S(1) / sum;
          y(t, width + c) = (largest_(0, c) + std::log(sum)) / beta(0, c);
        } else {
          inverse_(t, c) = 0;
          add_exception(x, t, c);
          y(t, width + c) = exceptions_.back().log_sum / beta(0, c);
        }
      }
    }
  }

  /// dF = (1/β) E_q[dlog p] + E_q[dv] + (E_q[v] − F) dβ/β with the posterior q_i ∝ p_i exp(β v_i).
  void jvp(Arguments<S> x, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const override {
    const Matrix<S>& v = *x[1];
    const Matrix<S>& beta = *x[2];
    const Index width = v.cols();
    dy.setZero();
    Matrix<S> dp;
    if (dx[0] != nullptr) {
      softmax_jacobian_rows(p_, *dx[0], dp);
      multiply<S>(dp, both_, dy);
      for (Index c = 0; c < width; ++c) dy.col(width + c) /= beta(0, c);
    }
    Matrix<S> moved = Matrix<S>::Zero(v.rows(), 2 * width);
    for (Index i = 0; i < v.rows(); ++i) {
      for (Index c = 0; c < width; ++c) {
        const S dv = dx[1] != nullptr ? (*dx[1])(i, c) : S(0);
        const S dbeta = dx[2] != nullptr ? (*dx[2])(0, c) : S(0);
        moved(i, c) = dv;
        moved(i, width + c) = both_(i, width + c) * (dv + v(i, c) * dbeta / beta(0, c));
      }
    }
    if (dx[1] != nullptr || dx[2] != nullptr) multiply<S>(p_, moved, dy, Store::add);
    for (Index t = 0; t < dy.rows(); ++t) {
      for (Index c = 0; c < width; ++c) {
        S& out = dy(t, width + c);
        out *= inverse_(t, c);
        if (dx[2] != nullptr) out -= y(t, width + c) * (*dx[2])(0, c) / beta(0, c);
      }
    }
    for (const Exception& one : exceptions_) {
      const S b = beta(0, one.channel);
      S mean = 0;
      if (dx[0] != nullptr) {
        for (Index i = 0; i < v.rows(); ++i) mean += p_(one.query, i) * (*dx[0])(one.query, i);
      }
      S sum = 0;
      for_posterior(x, one, [&](Index i, S q) {
        if (dx[0] != nullptr) sum += q * ((*dx[0])(one.query, i) - mean) / b;
        if (dx[1] != nullptr) sum += q * (*dx[1])(i, one.channel);
        if (dx[2] != nullptr) sum += q * v(i, one.channel) * (*dx[2])(0, one.channel) / b;
      });
      dy(one.query, width + one.channel) += sum;
    }
  }

  void vjp(Arguments<S> x, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const override {
    const Matrix<S>& v = *x[1];
    const Matrix<S>& beta = *x[2];
    const Index width = v.cols();
    Matrix<S> weights = dy;  // [u_μ | u_F/(P E)]
    weights.rightCols(width).array() *= inverse_.array();
    if (dx[1] != nullptr || dx[2] != nullptr) {
      Matrix<S> pulled(v.rows(), 2 * width);
      multiply_outer<S>(p_, weights, S(1), pulled, Store::assign);
      for (Index i = 0; i < v.rows(); ++i) {
        for (Index c = 0; c < width; ++c) {
          const S posterior = both_(i, width + c) * pulled(i, width + c);  // Σ_t u_F q_t(i)
          if (dx[1] != nullptr) (*dx[1])(i, c) += pulled(i, c) + posterior;
          if (dx[2] != nullptr) (*dx[2])(0, c) += posterior * v(i, c) / beta(0, c);
        }
      }
    }
    if (dx[2] != nullptr) {
      for (Index c = 0; c < width; ++c) {
        (*dx[2])(0, c) -= dy.col(width + c).dot(y.col(width + c)) / beta(0, c);
      }
    }
    Matrix<S> prior;  // cotangent of p, to be pulled through the softmax
    if (dx[0] != nullptr) {
      for (Index c = 0; c < width; ++c) weights.col(width + c) /= beta(0, c);
      prior.resize(p_.rows(), p_.cols());
      multiply_transposed<S>(weights, both_, prior);
      Matrix<S> pulled;
      softmax_jacobian_rows(p_, prior, pulled);
      *dx[0] += pulled;
    }
    for (const Exception& one : exceptions_) {
      const S u = dy(one.query, width + one.channel);
      const S b = beta(0, one.channel);
      for_posterior(x, one, [&](Index i, S q) {
        if (dx[0] != nullptr) (*dx[0])(one.query, i) += u / b * (q - p_(one.query, i));
        if (dx[1] != nullptr) (*dx[1])(i, one.channel) += u * q;
        if (dx[2] != nullptr) (*dx[2])(0, one.channel) += u * q * v(i, one.channel) / b;
      });
    }
  }

 private:
  /// An entry of F that the product cannot give, and log Σ_i p exp(β v) by its own row.
  struct Exception {
    Index query;
    Index channel;
    S log_sum;
  };

  S exponent(Arguments<S> x, Index t, Index i, Index c) const {
    return (*x[0])(t, i) - normaliser_(t, 0) + (*x[2])(0, c) * (*x[1])(i, c);
  }

  void add_exception(Arguments<S> x, Index t, Index c) {
    S largest = -std::numeric_limits<S>::infinity();
    for (Index i = 0; i < p_.cols(); ++i) {
      if (mask_(t, i)) largest = std::max(largest, exponent(x, t, i, c));
    }
    S sum = 0;
    for (Index i = 0; i < p_.cols(); ++i) {
      if (mask_(t, i)) sum += std::exp(exponent(x, t, i, c) - largest);
    }
    exceptions_.push_back({t, c, largest + std::log(sum)});
  }

  template <class Visit>
  void for_posterior(Arguments<S> x, const Exception& one, Visit visit) const {
    for (Index i = 0; i < p_.cols(); ++i) {
      if (mask_(one.query, i)) visit(i, std::exp(exponent(x, one.query, i, one.channel) - one.log_sum));
    }
  }

  Mask mask_;
  Matrix<S> p_, normaliser_;
  Matrix<S> largest_;  ///< M (1, C)
  Matrix<S> both_;     ///< [v | E]
  Matrix<S> inverse_;  ///< 1/(P E), 0 at exceptions
  std::vector<Exception> exceptions_;
};

}  // namespace

template <class S>
Value<S> free_energy_read(Value<S> logits, Value<S> v, Value<S> beta, const Mask& mask) {
  NUDGE_EXPECT(logits.rows() == mask.queries() && logits.cols() == mask.keys() && v.rows() == logits.cols());
  NUDGE_EXPECT(beta.rows() == 1 && beta.cols() == v.cols());
  return logits.tape->record(std::make_unique<FreeEnergyRead<S>>(mask), {logits, v, beta});
}

template Value<float> free_energy_read<float>(Value<float>, Value<float>, Value<float>, const Mask&);
template Value<double> free_energy_read<double>(Value<double>, Value<double>, Value<double>, const Mask&);

}  // namespace nudge
