// SPDX-License-Identifier: Apache-2.0
#include "mixers/attention/heads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mixers/ops/operations.hpp"
#include "mixers/ops/softmax.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"
#include "sim/base/softmax.hpp"

namespace nudge {

const Section<AttentionOptions>& head_section() {
  using param::integer;
  using param::zero_is;
  static const Section<AttentionOptions> section = {
      field(zero_is("auto", integer("mixer.head_width", "auto", between(0, 65536),
                                    "Channels of the queries, keys and values of one head; auto: C/H.")),
            &AttentionOptions::head_width),
      field(zero_is("auto", integer("mixer.key_value_heads", "auto", between(0, 65536),
                                    "Heads G of keys and values, each for H/G heads of queries (grouped-query "
                                    "attention), of mha, momen, nag, *_stack and free_transformer; auto: H.",
                                    "Ainslie et al., arXiv:2305.13245")),
            &AttentionOptions::key_value_heads)};
  return section;
}

MixerKeys head_width_key(const MixerOptions& /*made*/) {
  return keys_of(head_section(), {&AttentionOptions::head_width});
}

MixerKeys attention_keys(const MixerOptions& made) {
  return head_width_key(made) + keys_of(head_section(), {&AttentionOptions::key_value_heads}) + rope_key(made);
}

void fit_heads(MixerOptions& options) {
  Index& width = options.of<AttentionOptions>().head_width;
  if (width == 0) width = options.width / options.heads;
}
namespace {

double fan_in_deviation(Index inputs) { return 1.0 / std::sqrt(static_cast<double>(inputs)); }

}  // namespace

Field head_projection(const std::string& name, const MixerOptions& options) {
  require_at_least("heads", options.heads, 1);
  require_at_least("head_width", options.of<AttentionOptions>().head_width, 1);
  require_at_least("width", options.width, 1);
  if (options.rope && options.of<AttentionOptions>().head_width % 2 != 0) {
    throw UserError(fmt::format("head_width = {} is odd (rotary positions turn pairs: use an even width)",
                                options.of<AttentionOptions>().head_width));
  }
  return {name,
          {options.heads, options.of<AttentionOptions>().head_width, options.width},
          0,
          fan_in_deviation(options.width)};
}

Index key_value_heads(const MixerOptions& options) {
  return options.of<AttentionOptions>().key_value_heads > 0 ? options.of<AttentionOptions>().key_value_heads
                                                            : options.heads;
}

Field shared_projection(const std::string& name, const MixerOptions& options) {
  MixerOptions shared = options;
  shared.heads = key_value_heads(options);
  require_divides("key_value_heads", shared.heads, "heads", options.heads);
  return head_projection(name, shared);
}

Field head_output(const std::string& name, const MixerOptions& options) {
  return {name,
          {options.heads, options.width, options.of<AttentionOptions>().head_width},
          0,
          fan_in_deviation(options.heads * options.of<AttentionOptions>().head_width)};
}

MixerSpec state_to_state(const MixerOptions& options, std::vector<Field> parameters) {
  return {.inputs = {{"z", {-1, options.width}}},
          .parameters = std::move(parameters),
          .outputs = {{"y", {-1, options.width}}},
          .residual = true};
}

template <class S>
Value<S> head(Value<S> weights, Index h, Index heads) {
  const Index count = weights.rows() / heads;
  return rows(weights, h * count, count);
}

template <class S>
Value<S> sum_over_heads(Index heads, const std::function<Value<S>(Index)>& f) {
  Value<S> sum = f(0);
  for (Index h = 1; h < heads; ++h) sum = sum + f(h);
  return sum;
}

template <class S>
Value<S> with_positions(Value<S> x, const MixerOptions& options, Index heads) {
  return options.rope ? rotate_positions(x, heads) : x;
}

template <class S>
void add_free_energy(Value<S>& energy, Value<S> scores, Value<S> share, const Mask& mask) {
  const Value<S> part = log_sum_exp(scores, mask) * share;
  energy = energy.id < 0 ? affine(part, -1.0) : energy - part;
}

template <class S>
void add_free_energy(Value<S>& energy, Value<S> scores, double share, const Mask& mask) {
  const Value<S> part = affine(log_sum_exp(scores, mask), -share);
  energy = energy.id < 0 ? part : energy + part;
}

template <class S>
Value<S> attention_update(Value<S> z, const NamedValues<S>& parameters, const std::string& prefix,
                          const MixerOptions& options, const Mask& mask, Value<S>* energy) {
  const Index heads = options.heads;
  const Index readers = heads / key_value_heads(options);  // heads of queries to one of keys and values
  const Value<S> q = with_positions(product_nt(z, parameters[prefix + "Wq"]), options, heads);
  const Value<S> k = with_positions(product_nt(z, parameters[prefix + "Wk"]), options, key_value_heads(options));
  const Value<S> v = product_nt(z, parameters[prefix + "Wv"]);
  const Index m = q.cols() / heads;
  const double scale = 1.0 / std::sqrt(static_cast<double>(m));
  return sum_over_heads<S>(heads, [&](Index h) {
    const auto shared = [&](Value<S> x) { return columns(x, h / readers * m, m); };
    const Value<S> scores = affine(product_nt(columns(q, h * m, m), shared(k)), scale);
    if (energy != nullptr) add_free_energy(*energy, scores, 1.0 / (scale * static_cast<double>(heads)), mask);
    const Value<S> p = softmax(scores, mask);
    return product_nt(product(p, shared(v)), head(parameters[prefix + "Wo"], h, heads));
  });
}

#define NUDGE_HEADS(S)                                                                                            \
  template Value<S> head<S>(Value<S>, Index, Index);                                                              \
  template Value<S> sum_over_heads<S>(Index, const std::function<Value<S>(Index)>&);                              \
  template Value<S> attention_update<S>(Value<S>, const NamedValues<S>&, const std::string&, const MixerOptions&, \
                                        const Mask&, Value<S>*);                                                  \
  template void add_free_energy<S>(Value<S>&, Value<S>, Value<S>, const Mask&);                                   \
  template void add_free_energy<S>(Value<S>&, Value<S>, double, const Mask&);                                     \
  template Value<S> with_positions<S>(Value<S>, const MixerOptions&, Index);
NUDGE_BOTH_PRECISIONS(NUDGE_HEADS)

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
