// SPDX-License-Identifier: Apache-2.0
#include "mixers/attention/heads.hpp"

#include <algorithm>
#include <cmath>

#include "mixers/ops/softmax.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"
#include "sim/base/softmax.hpp"

namespace nudge {
namespace {

/// Block of queries whose products are formed together, over the keys from the first to the last that any of them attends to.
struct Block {
  Index query, queries, key, keys;
};

std::vector<Block> blocks_of(const Mask& mask) {
  constexpr Index kQueries = 64;
  std::vector<Block> blocks;
  for (Index query = 0; query < mask.queries(); query += kQueries) {
    const Index queries = std::min(kQueries, mask.queries() - query);
    Index begin = mask.keys();
    Index end = 0;
    for (Index t = query; t < query + queries; ++t) {
      begin = std::min(begin, mask.run(t).begin);
      end = std::max(end, mask.run(t).begin + mask.run(t).count);
    }
    blocks.push_back({query, queries, begin, end - begin});
  }
  return blocks;
}

/// Columns of one head in rows [row, row + rows) of an operand, the rows that a block of queries needs.
template <class M>
auto cut(M& m, Index row, Index rows, Index head, Index heads) {
  const Index width = m.cols() / heads;
  return m.block(row, head * width, rows, width);
}

template <class S>
class AttendHeads final : public Operation<S> {
 public:
  AttendHeads(Index heads, const Mask& mask, std::vector<Matrix<S>>* probabilities)
      : heads_(heads), mask_(mask), blocks_(blocks_of(mask)), p_(probabilities != nullptr ? *probabilities : own_) {
    p_.resize(static_cast<std::size_t>(heads));
  }

  std::string_view name() const override { return "attend_heads"; }
  /// Operations: scores and mixing over all pairs (an upper bound where the mask leaves some out), and shift, exp, sum, divide of each.
  double operations(Arguments<S> x, const Matrix<S>& y) const override {
    const double pairs = static_cast<double>(x[0]->rows() * x[1]->rows());
    return pairs * (2.0 * static_cast<double>(x[0]->cols() + y.cols()) + 4.0 * static_cast<double>(heads_));
  }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    y.resize(x[0]->rows(), x[2]->cols());
    scores_.resize(mask_.queries(), mask_.keys());
    for (Index h = 0; h < heads_; ++h) {
      Matrix<S>& p = p_[static_cast<std::size_t>(h)];
      for (const Block& b : blocks_) {
        auto scores = in(scores_, b);
        multiply_transposed<S>(queries(*x[0], b, h), keys(*x[1], b, h), scores);
        scores *= scale(x);
      }
      softmax_rows(scores_, mask_, p, normaliser_);
      for (const Block& b : blocks_) multiply<S>(in(p, b), keys(*x[2], b, h), queries(y, b, h));
    }
  }

  /// Computes dy = dP v + P dv, dP = P ∘ (dS − Σ_j P dS), dS = (dq kᵀ + q dkᵀ)/√d.
  void jvp(Arguments<S> x, const Matrix<S>& /*y*/, Arguments<S> dx, Matrix<S>& dy) const override {
    const bool scores_move = dx[0] != nullptr || dx[1] != nullptr;
    for (Index h = 0; h < heads_; ++h) {
      const Matrix<S>& p = p_[static_cast<std::size_t>(h)];
      for (const Block& b : blocks_) {
        if (scores_move) {
          auto change = in(scores_, b);
          if (dx[0] != nullptr) multiply_transposed<S>(queries(*dx[0], b, h), keys(*x[1], b, h), change);
          if (dx[1] != nullptr) {
            multiply_transposed<S>(queries(*x[0], b, h), keys(*dx[1], b, h), change,
                                   dx[0] != nullptr ? Store::add : Store::assign);
          }
          apply_softmax_jacobian(p, b, scale(x));
          multiply<S>(change, keys(*x[2], b, h), queries(dy, b, h));
        }
        if (dx[2] != nullptr) {
          multiply<S>(in(p, b), keys(*dx[2], b, h), queries(dy, b, h), scores_move ? Store::add : Store::assign);
        }
      }
    }
  }

  /// Pulls back u = dy: dv += Pᵀ u, dP = u vᵀ, dS = P ∘ (dP − Σ_j P dP)/√d, dq += dS k, dk += dSᵀ q.
  void vjp(Arguments<S> x, const Matrix<S>& /*y*/, const Matrix<S>& dy, Cotangents<S> dx) const override {
    // Blocks share keys, not queries: only a single block writes all keys at once.
    const bool once = blocks_.size() == 1 && blocks_[0].keys == mask_.keys();
    const auto store = [&](std::size_t k, bool all) { return dx[k] != nullptr && all ? dx[k].take() : Store::add; };
    const Store store_q = store(0, true);
    const Store store_k = store(1, once);
    const Store store_v = store(2, once);
    for (Index h = 0; h < heads_; ++h) {
      const Matrix<S>& p = p_[static_cast<std::size_t>(h)];
      for (const Block& b : blocks_) {
        const auto u = queries(dy, b, h);
        if (dx[2] != nullptr) multiply_outer<S>(in(p, b), u, S(1), keys(*dx[2], b, h), store_v);
        if (dx[0] == nullptr && dx[1] == nullptr) continue;
        auto change = in(scores_, b);
        multiply_transposed<S>(u, keys(*x[2], b, h), change);
        apply_softmax_jacobian(p, b, scale(x));
        if (dx[0] != nullptr) multiply<S>(change, keys(*x[1], b, h), queries(*dx[0], b, h), store_q);
        if (dx[1] != nullptr) multiply_outer<S>(change, queries(*x[0], b, h), S(1), keys(*dx[1], b, h), store_k);
      }
    }
  }

 private:
  template <class M>
  static auto in(M& scores, const Block& b) {
    return scores.block(b.query, b.key, b.queries, b.keys);
  }
  template <class M>
  auto queries(M& m, const Block& b, Index head) const {
    return cut(m, b.query, b.queries, head, heads_);
  }
  template <class M>
  auto keys(M& m, const Block& b, Index head) const {
    return cut(m, b.key, b.keys, head, heads_);
  }
  S scale(Arguments<S> x) const {
    const Index width = x[0]->cols() / heads_;
    return static_cast<S>(1.0 / std::sqrt(static_cast<double>(width)));
  }

  /// Applies d ← scale p ∘ (d − Σ_j p_j d_j) in the rows of a block of scores_; 0 where no key is attended.
  void apply_softmax_jacobian(const Matrix<S>& p, const Block& b, S scale) const {
    for (Index t = b.query; t < b.query + b.queries; ++t) {
      const Mask::Run run = mask_.run(t);
      softmax_derivative_row(p.row(t).segment(run.begin, run.count), scores_.row(t).segment(run.begin, run.count),
                             scale);
      scores_.row(t).segment(b.key, run.begin - b.key).setZero();
      scores_.row(t).segment(run.begin + run.count, b.key + b.keys - run.begin - run.count).setZero();
    }
  }

  Index heads_;
  Mask mask_;
  std::vector<Block> blocks_;
  std::vector<Matrix<S>> own_;
  std::vector<Matrix<S>>& p_;
  mutable Matrix<S> scores_;  ///< scores of one head; in derivatives, their change
  Matrix<S> normaliser_;
};

}  // namespace

template <class S>
Value<S> attend_heads(Value<S> q, Value<S> k, Value<S> v, Index heads, const Mask& mask,
                      std::vector<Matrix<S>>* probabilities) {
  NUDGE_EXPECT(heads >= 1 && q.cols() % heads == 0 && v.cols() % heads == 0 && k.cols() == q.cols());
  NUDGE_EXPECT(q.rows() == mask.queries() && k.rows() == mask.keys() && v.rows() == mask.keys());
  return q.tape->record(std::make_unique<AttendHeads<S>>(heads, mask, probabilities), {q, k, v});
}

#define NUDGE_CAUSAL_HEADS(S) \
  template Value<S> attend_heads<S>(Value<S>, Value<S>, Value<S>, Index, const Mask&, std::vector<Matrix<S>>*);
NUDGE_BOTH_PRECISIONS(NUDGE_CAUSAL_HEADS)

}  // namespace nudge
