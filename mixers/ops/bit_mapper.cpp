// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/softmax.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"

namespace nudge {
namespace {

constexpr Index kMostBits = 20;

/// Probabilities G of one token by doubling: bit h splits every product so far.
template <class S>
void probabilities(const S* logits, Index bits, S* g) {
  g[0] = 1;
  for (Index h = 0; h < bits; ++h) {
    const S one = evaluate(Function::sigmoid, logits[h]);
    const S zero = evaluate(Function::sigmoid, -logits[h]);
    const Index half = Index(1) << h;
    for (Index d = 0; d < half; ++d) {
      g[d + half] = g[d] * one;
      g[d] *= zero;
    }
  }
}

/// Pushes g ← dG = G_d Σ_h dL_h (U_h(d) − sigmoid(L_h)) for d_logits dL; the sum again by doubling, into `change`.
template <class S>
void push(const S* logits, const S* d_logits, Index bits, S* g, std::vector<S>& change) {
  const auto count = std::size_t(1) << bits;
  change.assign(count, S(0));
  for (Index h = 0; h < bits; ++h) change[0] -= d_logits[h] * evaluate(Function::sigmoid, logits[h]);
  for (Index h = 0; h < bits; ++h) {
    const auto half = std::size_t(1) << h;
    for (std::size_t d = 0; d < half; ++d) change[d + half] = change[d] + d_logits[h];
  }
  probabilities(logits, bits, g);
  for (std::size_t d = 0; d < count; ++d) g[d] *= change[d];
}

/// Pulls dL_h += Σ_d c_d G_d (U_h(d) − sigmoid(L_h)) into d_logits, with the sums over halves by folding from the highest bit
/// down. c is used up; g: working memory.
template <class S>
void pull(const S* logits, S* c, Index bits, S* d_logits, std::vector<S>& g) {
  g.resize(std::size_t(1) << bits);
  probabilities(logits, bits, g.data());
  S whole = 0;
  for (std::size_t d = 0; d < g.size(); ++d) {
    c[d] *= g[d];
    whole += c[d];
  }
  for (Index h = bits; h-- > 0;) {
    const Index half = Index(1) << h;
    S upper = 0;
    for (Index d = 0; d < half; ++d) {
      upper += c[d + half];
      c[d] += c[d + half];
    }
    d_logits[h] += upper - evaluate(Function::sigmoid, logits[h]) * whole;
  }
}

template <class S>
class BitMapper final : public Operation<S> {
 public:
  explicit BitMapper(std::shared_ptr<BitSampler<S>> sampler) : sampler_(std::move(sampler)) {}
  std::string_view name() const override { return "bit_mapper"; }
  void forward(Arguments<S> x, Matrix<S>& y) override {
    const Matrix<S>& logits = *x[0];
    std::vector<std::uint8_t> bits;
    sampler_->draw(logits, bits);
    y.setZero(logits.rows(), Index(1) << logits.cols());
    const std::vector<int> index = bit_index(bits, logits.cols());
    for (Index t = 0; t < y.rows(); ++t) y(t, index[static_cast<std::size_t>(t)]) = S(1);
  }
  void jvp(Arguments<S> x, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const override {
    std::vector<S> change;
    for (Index t = 0; t < y.rows(); ++t) {
      push(x[0]->row(t).data(), dx[0]->row(t).data(), x[0]->cols(), dy.row(t).data(), change);
    }
  }
  void vjp(Arguments<S> x, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const override {
    if (dx[0] == nullptr) return;
    std::vector<S> g;
    for (Index t = 0; t < y.rows(); ++t) {
      Matrix<S> c = dy.row(t);
      pull(x[0]->row(t).data(), c.data(), x[0]->cols(), dx[0]->row(t).data(), g);
    }
  }

 private:
  std::shared_ptr<BitSampler<S>> sampler_;
};

template <class S>
class BitLookup final : public Operation<S> {
 public:
  explicit BitLookup(std::shared_ptr<BitSampler<S>> sampler) : sampler_(std::move(sampler)) {}
  std::string_view name() const override { return "bit_lookup"; }
  void forward(Arguments<S> x, Matrix<S>& y) override {
    const Matrix<S>& logits = *x[0];
    std::vector<std::uint8_t> bits;
    sampler_->draw(logits, bits);
    index_ = bit_index(bits, logits.cols());
    y.resize(logits.rows(), x[1]->cols());
    for (Index t = 0; t < y.rows(); ++t) y.row(t) = x[1]->row(index_[static_cast<std::size_t>(t)]);
  }
  void jvp(Arguments<S> x, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const override {
    const Matrix<S>& logits = *x[0];
    dy.setZero();
    Matrix<S> g(1, Index(1) << logits.cols());
    std::vector<S> change;
    for (Index t = 0; t < y.rows(); ++t) {
      if (dx[0] != nullptr) {
        push(logits.row(t).data(), dx[0]->row(t).data(), logits.cols(), g.data(), change);
        multiply<S>(g, *x[1], dy.middleRows(t, 1), Store::add);
      }
      if (dx[1] != nullptr) dy.row(t) += dx[1]->row(index_[static_cast<std::size_t>(t)]);
    }
  }
  void vjp(Arguments<S> x, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const override {
    const Matrix<S>& logits = *x[0];
    Matrix<S> c(1, Index(1) << logits.cols());
    std::vector<S> g;
    for (Index t = 0; t < y.rows(); ++t) {
      if (dx[1] != nullptr) dx[1]->row(index_[static_cast<std::size_t>(t)]) += dy.row(t);
      if (dx[0] == nullptr) continue;
      multiply_transposed<S>(dy.middleRows(t, 1), *x[1], c);
      pull(logits.row(t).data(), c.data(), logits.cols(), dx[0]->row(t).data(), g);
    }
  }

 private:
  std::shared_ptr<BitSampler<S>> sampler_;
  std::vector<int> index_;
};

void check_bits(Index bits) {
  if (bits < 1 || bits > kMostBits) {
    throw UserError(
        fmt::format("H = {} bits (must be 1 to {}: the table of latent vectors has 2^H rows)", bits, kMostBits));
  }
}

}  // namespace

std::vector<int> bit_index(const std::vector<std::uint8_t>& bits, Index width) {
  std::vector<int> index(bits.size() / static_cast<std::size_t>(width), 0);
  for (std::size_t n = 0; n < bits.size(); ++n) {
    index[n / static_cast<std::size_t>(width)] |= bits[n] << (n % static_cast<std::size_t>(width));
  }
  return index;
}

template <class S>
Value<S> bit_mapper(Value<S> logits, std::shared_ptr<BitSampler<S>> sampler) {
  check_bits(logits.cols());
  return logits.tape->record(std::make_unique<BitMapper<S>>(std::move(sampler)), {logits});
}

template <class S>
Value<S> bit_lookup(Value<S> logits, Value<S> table, std::shared_ptr<BitSampler<S>> sampler) {
  check_bits(logits.cols());
  NUDGE_EXPECT(table.rows() == Index(1) << logits.cols());
  return logits.tape->record(std::make_unique<BitLookup<S>>(std::move(sampler)), {logits, table});
}

#define NUDGE_BIT_MAPPER(S)                                                  \
  template Value<S> bit_mapper<S>(Value<S>, std::shared_ptr<BitSampler<S>>); \
  template Value<S> bit_lookup<S>(Value<S>, Value<S>, std::shared_ptr<BitSampler<S>>);
NUDGE_BOTH_PRECISIONS(NUDGE_BIT_MAPPER)

}  // namespace nudge
