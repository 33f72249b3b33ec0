// SPDX-License-Identifier: Apache-2.0
#include "mixers/fem/free_energy_mixer.hpp"

#include <cmath>
#include <functional>

#include "mixers/ops/operations.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

template <class S>
using Beta = std::optional<Value<S>>;

/// Calls read(head, its values, its β), which gives [μ | F], and puts the heads side by side.
template <class S>
Branches<S> read_heads(Value<S> v, Value<S> beta, Index heads,
                       const std::function<Value<S>(Index, Value<S>, Value<S>)>& read) {
  NUDGE_EXPECT(v.cols() % heads == 0);
  const Index width = v.cols() / heads;
  std::vector<Value<S>> means;
  std::vector<Value<S>> free_energies;
  for (Index h = 0; h < heads; ++h) {
    const Value<S> both = read(h, columns(v, h * width, width), columns(beta, h * width, width));
    means.push_back(columns(both, 0, width));
    free_energies.push_back(columns(both, width, width));
  }
  return {join_columns(means), join_columns(free_energies)};
}

/// Branches of decaying_read(): [μ | F], or μ for both if there is no β. Arguments as there; streams: their memory continues
/// a sequence, or null.
template <class S>
Branches<S> read_memory(Index groups, Value<S> log_a, Value<S> log_b, Value<S> g, Value<S> v, Beta<S> beta,
                        Beta<S> log_direct, MemoryRead read, Streams<S>* streams) {
  const Value<S> both = decaying_read<S>(groups, log_a, log_b, g, v, beta, log_direct, read,
                                         streams != nullptr ? &streams->memory : nullptr);
  if (!beta) return {both, both};
  return {columns(both, 0, v.cols()), columns(both, v.cols(), v.cols())};
}

/// Cells as decaying_read() takes them: column n G + k of the result is column of(n, k) of x.
template <class S, class F>
Value<S> cells(Value<S> x, Index count, Index groups, F of) {
  std::vector<int> index;
  for (Index n = 0; n < count; ++n) {
    for (Index k = 0; k < groups; ++k) index.push_back(static_cast<int>(of(n, k)));
  }
  return gather_columns(x, std::move(index));
}

template <class S>
Value<S> filled(Value<S> like, Index rows, Index cols, S value) {
  return like.tape->constant(Matrix<S>::Constant(rows, cols, value));
}

template <class S>
Value<S> log_softplus(Value<S> x) {
  return apply(Function::logarithm, apply(Function::softplus, x));
}

}  // namespace

template <class S>
Branches<S> softmax_prior(Value<S> q, Value<S> k, Value<S> v, Value<S> beta, Index heads, const Mask& mask) {
  const Index m = q.cols() / heads;
  return read_heads<S>(v, beta, heads, [&](Index h, Value<S> v_h, Value<S> beta_h) {
    const Value<S> scores = product_nt(columns(q, h * m, m), columns(k, h * m, m));
    return free_energy_read(affine(scores, 1.0 / std::sqrt(static_cast<double>(m))), v_h, beta_h, mask);
  });
}

template <class S>
Branches<S> gla_prior(Value<S> q, Value<S> k, Value<S> g, Value<S> v, Beta<S> beta, Index heads, double epsilon,
                      Streams<S>* streams) {
  const Index m = q.cols() / heads;
  const auto log_feature = [&](Value<S> x) {
    return apply(Function::logarithm, affine(apply(Function::relu, x), 1.0, epsilon));
  };
  const auto by_cell = [&](Value<S> x) { return cells(x, m, heads, [m](Index n, Index h) { return h * m + n; }); };
  const Value<S> decay = g.cols() == heads && m > 1 ? cells(g, m, heads, [](Index, Index h) { return h; }) : by_cell(g);
  return read_memory<S>(heads, by_cell(log_feature(q)), by_cell(log_feature(k)), decay, v, beta, std::nullopt,
                        MemoryRead::updated, streams);
}

template <class S>
Branches<S> gla_prior_quadratic(Value<S> q, Value<S> k, const Value<S>* g, Value<S> v, Value<S> beta, Index heads,
                                double epsilon, const Mask& mask) {
  const Index m = q.cols() / heads;
  const auto feature = [&](Value<S> x) { return affine(apply(Function::relu, x), 1.0, epsilon); };
  const Value<S> a = feature(q);
  const Value<S> b = feature(k);
  const Index n = q.rows();
  // Σ_{τ≤t} g_τ as a column and as a row: row t minus column i is the decay from i to t.
  Matrix<S> below = Matrix<S>::Zero(n, n);
  below.template triangularView<Eigen::Lower>().setOnes();
  const Value<S> sums = q.tape->constant(below);
  const Value<S> sums_transposed = q.tape->constant(below.transpose());
  return read_heads<S>(v, beta, heads, [&](Index h, Value<S> v_h, Value<S> beta_h) {
    const auto cut = [&](Value<S> x) { return columns(x, h * m, m); };
    Value<S> logits = apply(Function::logarithm, product_nt(cut(a), cut(b)));
    if (g != nullptr) {
      const Value<S> g_h = columns(*g, h, 1);
      logits = logits + product(sums, g_h) - product_tn(g_h, sums_transposed);
    }
    return free_energy_read(logits, v_h, beta_h, mask);
  });
}

template <class S>
Branches<S> aft_prior(Value<S> k, Value<S> v, Beta<S> beta, Streams<S>* streams) {
  const Value<S> zero = filled(v, v.rows(), k.cols(), S(0));
  return read_memory<S>(k.cols(), zero, k, zero, v, beta, std::nullopt, MemoryRead::updated, streams);
}

template <class S>
Branches<S> lrnn_prior(Value<S> g, Value<S> v, Beta<S> beta, Streams<S>* streams) {
  const Value<S> zero = filled(v, v.rows(), g.cols(), S(0));
  return read_memory<S>(g.cols(), zero, zero, g, v, beta, std::nullopt, MemoryRead::updated, streams);
}

template <class S>
Branches<S> ssm_invariant_prior(const InvariantStates<S>& raw, Value<S> v, Beta<S> beta, Streams<S>* streams) {
  const Value<S> dt = apply(Function::softplus, raw.dt);
  const Value<S> ones = filled(v, v.rows(), 1, S(1));
  const auto every_token = [&](Value<S> row) { return product(ones, row); };
  const auto every_state = [&](Value<S> row) {
    return cells(row, raw.a.cols(), v.cols(), [](Index, Index c) { return c; });
  };
  const Value<S> decay = affine(as_row(apply(Function::softplus, raw.a)) * every_state(dt), -1.0);
  const Value<S> log_b = as_row(log_softplus(raw.b)) + every_state(apply(Function::logarithm, dt));
  return read_memory<S>(v.cols(), every_token(as_row(log_softplus(raw.c))), every_token(log_b), every_token(decay), v,
                        beta, log_softplus(raw.direct), MemoryRead::previous, streams);
}

template <class S>
Branches<S> ssm_selective_prior(const SelectiveStates<S>& states, Value<S> v, Beta<S> beta, Streams<S>* streams) {
  const auto every_channel = [&](Value<S> x) {
    return cells(x, states.a.cols(), v.cols(), [](Index n, Index) { return n; });
  };
  const auto every_state = [&](Value<S> x) {
    return cells(x, states.a.cols(), v.cols(), [](Index, Index c) { return c; });
  };
  const auto logarithm = [](Value<S> x) { return apply(Function::logarithm, x); };
  const Value<S> rate = as_row(affine(apply(Function::softplus, states.a), -1.0));
  return read_memory<S>(v.cols(), every_channel(logarithm(states.c)),
                        every_channel(logarithm(states.b)) + every_state(logarithm(states.dt)),
                        every_state(states.dt) * rate, v, beta, log_softplus(states.direct), MemoryRead::updated,
                        streams);
}

#define NUDGE_PRIORS(S)                                                                                               \
  template Branches<S> softmax_prior<S>(Value<S>, Value<S>, Value<S>, Value<S>, Index, const Mask&);                  \
  template Branches<S> gla_prior<S>(Value<S>, Value<S>, Value<S>, Value<S>, Beta<S>, Index, double, Streams<S>*);     \
  template Branches<S> gla_prior_quadratic<S>(Value<S>, Value<S>, const Value<S>*, Value<S>, Value<S>, Index, double, \
                                              const Mask&);                                                           \
  template Branches<S> aft_prior<S>(Value<S>, Value<S>, Beta<S>, Streams<S>*);                                        \
  template Branches<S> lrnn_prior<S>(Value<S>, Value<S>, Beta<S>, Streams<S>*);                                       \
  template Branches<S> ssm_invariant_prior<S>(const InvariantStates<S>&, Value<S>, Beta<S>, Streams<S>*);             \
  template Branches<S> ssm_selective_prior<S>(const SelectiveStates<S>&, Value<S>, Beta<S>, Streams<S>*);
NUDGE_BOTH_PRECISIONS(NUDGE_PRIORS)

}  // namespace nudge
