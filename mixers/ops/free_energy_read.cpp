// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/reads.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mixers/ops/softmax.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"

namespace nudge {
namespace {

/// Least total for which underflow does not matter. Terms of a sum that underflow are below min() each; a sum of up to 10⁶ of
/// them is below the rounding of a total W when W ≥ 10⁶ min()/ε.
template <class S>
constexpr S kSmallestSum = S(1e6) * std::numeric_limits<S>::min() / std::numeric_limits<S>::epsilon();

template <class S>
class FreeEnergyRead final : public Operation<S> {
 public:
  explicit FreeEnergyRead(const Mask& mask) : mask_(mask) {}

  std::string_view name() const override { return "free_energy_read"; }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    softmax_rows(*x[0], mask_, p_, normaliser_);
    y.resize(p_.rows(), 2 * x[1]->cols());
    inverse_.resize(y.rows(), x[1]->cols());
    exceptions_.clear();
    parts_.resize(1);
    parts_[0].take(0, y.rows(), 0, p_.cols());
    if (!multiply_part(x, parts_[0], y) && y.rows() > kBlock) {
      // One maximum is too high for some rows: a maximum per block of queries, over the keys that these see.
      parts_.resize(static_cast<std::size_t>((y.rows() + kBlock - 1) / kBlock));
      for (std::size_t n = 0; n < parts_.size(); ++n) {
        take_block(static_cast<Index>(n) * kBlock, parts_[n]);
        multiply_part(x, parts_[n], y);
      }
    }
    for (const Part& part : parts_) take_logarithms(x, part, y);
  }

  /// Computes dF = (1/β) E_q[dlog p] + E_q[dv] + (E_q[v] − F) dβ/β with the posterior q_i ∝ p_i exp(β v_i).
  void jvp(Arguments<S> x, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const override {
    const Matrix<S>& v = *x[1];
    const Matrix<S>& beta = *x[2];
    const Index width = v.cols();
    dy.setZero();
    Matrix<S> dp;
    if (dx[0] != nullptr) softmax_jacobian_rows(p_, *dx[0], dp);
    for (const Part& part : parts_) {
      auto out = dy.middleRows(part.query, part.queries);
      if (dx[0] != nullptr) {
        multiply<S>(dp.block(part.query, part.key, part.queries, part.keys), part.both, out);
        out.rightCols(width).array().rowwise() /= beta.row(0).array();
      }
      if (dx[1] == nullptr && dx[2] == nullptr) continue;
      Matrix<S> moved = Matrix<S>::Zero(part.keys, 2 * width);
      if (dx[1] != nullptr) {
        moved.leftCols(width) = moved.rightCols(width) = dx[1]->middleRows(part.key, part.keys);
      }
      if (dx[2] != nullptr) {
        moved.rightCols(width).array() +=
            v.middleRows(part.key, part.keys).array().rowwise() * (dx[2]->row(0).array() / beta.row(0).array());
      }
      moved.rightCols(width).array() *= part.both.rightCols(width).array();
      multiply<S>(p_.block(part.query, part.key, part.queries, part.keys), moved, out, Store::add);
    }
    dy.rightCols(width).array() *= inverse_.array();
    if (dx[2] != nullptr) {
      dy.rightCols(width).array() -=
          y.rightCols(width).array().rowwise() * (dx[2]->row(0).array() / beta.row(0).array());
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
    if (dx[2] != nullptr) {
      dx[2]->array() -= dy.rightCols(width).cwiseProduct(y.rightCols(width)).colwise().sum().array() / beta.array();
    }
    for (const Part& part : parts_) {
      if (dx[1] == nullptr && dx[2] == nullptr) break;
      Matrix<S> pulled(part.keys, 2 * width);
      multiply_outer<S>(p_.block(part.query, part.key, part.queries, part.keys),
                        weights.middleRows(part.query, part.queries), S(1), pulled, Store::assign);
      pulled.rightCols(width).array() *= part.both.rightCols(width).array();  // Σ_t u_F q_t(i)
      if (dx[1] != nullptr) {
        dx[1]->middleRows(part.key, part.keys) += pulled.leftCols(width) + pulled.rightCols(width);
      }
      if (dx[2] != nullptr) {
        const auto values = v.middleRows(part.key, part.keys);
        dx[2]->array() += pulled.rightCols(width).cwiseProduct(values).colwise().sum().array() / beta.array();
      }
    }
    if (dx[0] != nullptr) {
      weights.rightCols(width).array().rowwise() /= beta.row(0).array();
      Matrix<S> prior = Matrix<S>::Zero(p_.rows(), p_.cols());  // cotangent of p, to be pulled through the softmax
      for (const Part& part : parts_) {
        multiply_transposed<S>(weights.middleRows(part.query, part.queries), part.both,
                               prior.block(part.query, part.key, part.queries, part.keys));
      }
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
  /// Part of the queries whose sums are one product, relative to one maximum per channel over the keys that they see.
  struct Part {
    Index query, queries, key, keys;
    Matrix<S> largest;  ///< M (1, C)
    Matrix<S> both;     ///< [v | E] (keys, 2 C)
    void take(Index first_query, Index query_count, Index first_key, Index key_count) {
      query = first_query;
      queries = query_count;
      key = first_key;
      keys = key_count;
    }
  };
  static constexpr Index kBlock = 64;

  void take_block(Index query, Part& part) const {
    const Index end = std::min(query + kBlock, p_.rows());
    Index first = p_.cols(), last = 0;
    for (Index t = query; t < end; ++t) {
      first = std::min(first, mask_.run(t).begin);
      last = std::max(last, mask_.run(t).begin + mask_.run(t).count);
    }
    part.take(query, end - query, first, last - first);
  }

  /// Computes [P v | P E] into y; returns true if no sum comes near underflow.
  bool multiply_part(Arguments<S> x, Part& part, Matrix<S>& y) {
    const auto v = x[1]->middleRows(part.key, part.keys);
    const Index width = v.cols();
    part.both.resize(part.keys, 2 * width);
    part.both.leftCols(width) = v;
    auto weights = part.both.rightCols(width).array();  // in steps that become vector code
    weights = v.array().rowwise() * x[2]->row(0).array();
    part.largest = weights.colwise().maxCoeff();
    weights.rowwise() -= part.largest.row(0).array();
    weights = weights.exp();
    auto out = y.middleRows(part.query, part.queries);
    multiply<S>(p_.block(part.query, part.key, part.queries, part.keys), part.both, out);
    return out.rightCols(width).minCoeff() >= kSmallestSum<S>;
  }

  void take_logarithms(Arguments<S> x, const Part& part, Matrix<S>& y) {
    const Index width = x[1]->cols();
    auto sums = y.block(part.query, width, part.queries, width).array();
    auto inverse = inverse_.middleRows(part.query, part.queries).array();
    const std::size_t first = exceptions_.size();
    inverse = sums.inverse();
    if (!(sums.minCoeff() >= kSmallestSum<S>)) {
      for (Index t = 0; t < part.queries; ++t) {
        for (Index c = 0; c < width; ++c) {
          if (!(sums(t, c) >= kSmallestSum<S>)) add_exception(x, part.query + t, c);
        }
      }
    }
    sums = sums.log();
    sums.rowwise() += part.largest.row(0).array();
    sums.rowwise() /= x[2]->row(0).array();
    for (std::size_t n = first; n < exceptions_.size(); ++n) {
      const Exception& one = exceptions_[n];
      inverse_(one.query, one.channel) = 0;
      y(one.query, width + one.channel) = one.log_sum / (*x[2])(0, one.channel);
    }
  }

  /// Exception: an entry of F that the product cannot give, and log Σ_i p exp(β v) by its own row.
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
    const Index begin = mask_.run(t).begin;
    const Index end = begin + mask_.run(t).count;
    for (Index i = begin; i < end; ++i) {
      if (mask_(t, i)) largest = std::max(largest, exponent(x, t, i, c));
    }
    S sum = 0;
    for (Index i = begin; i < end; ++i) {
      if (mask_(t, i)) sum += std::exp(exponent(x, t, i, c) - largest);
    }
    exceptions_.push_back({t, c, largest + std::log(sum)});
  }

  template <class Visit>
  void for_posterior(Arguments<S> x, const Exception& one, Visit visit) const {
    const Index begin = mask_.run(one.query).begin;
    const Index end = begin + mask_.run(one.query).count;
    for (Index i = begin; i < end; ++i) {
      if (mask_(one.query, i)) visit(i, std::exp(exponent(x, one.query, i, one.channel) - one.log_sum));
    }
  }

  Mask mask_;
  Matrix<S> p_, normaliser_;
  std::vector<Part> parts_;  ///< all queries, or blocks of them
  Matrix<S> inverse_;        ///< 1/(P E), 0 at exceptions
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
