// SPDX-License-Identifier: Apache-2.0
#include "mixers/fem/priors.hpp"

#include <cmath>
#include <functional>

#include "mixers/ops/arithmetic.hpp"
#include "mixers/ops/decaying_read.hpp"
#include "mixers/ops/free_energy_read.hpp"
#include "mixers/ops/function.hpp"
#include "mixers/ops/layout.hpp"
#include "mixers/ops/product.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Calls read(group, its values, its β) for each group, which gives [μ | F], and puts the groups side by side.
template <class S>
Branches<S> read_groups(Value<S> v, Value<S> beta, Index groups,
                        const std::function<Value<S>(Index, Value<S>, Value<S>)>& read) {
  NUDGE_EXPECT(v.cols() % groups == 0);
  const Index width = v.cols() / groups;
  std::vector<Value<S>> means;
  std::vector<Value<S>> free_energies;
  for (Index g = 0; g < groups; ++g) {
    const Value<S> both = read(g, columns(v, g * width, width), columns(beta, g * width, width));
    means.push_back(columns(both, 0, width));
    free_energies.push_back(columns(both, width, width));
  }
  return {join_columns(means), join_columns(free_energies)};
}

template <class S>
DecayingMemory<S>* memory_of(Streams<S>* streams, Index group, Index groups) {
  if (streams == nullptr) return nullptr;
  streams->memories.resize(static_cast<std::size_t>(groups));
  return &streams->memories[static_cast<std::size_t>(group)];
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
  return read_groups<S>(v, beta, heads, [&](Index h, Value<S> v_h, Value<S> beta_h) {
    const Value<S> scores = product_nt(columns(q, h * m, m), columns(k, h * m, m));
    return free_energy_read(affine(scores, 1.0 / std::sqrt(static_cast<double>(m))), v_h, beta_h, mask);
  });
}

template <class S>
Branches<S> gla_prior(Value<S> q, Value<S> k, Value<S> g, Value<S> v, Value<S> beta, Index heads, double epsilon,
                      Streams<S>* streams) {
  const Index m = q.cols() / heads;
  const auto log_feature = [&](Value<S> x) {
    return apply(Function::logarithm, affine(apply(Function::relu, x), 1.0, epsilon));
  };
  const Value<S> log_a = log_feature(q);
  const Value<S> log_b = log_feature(k);
  const bool per_head = g.cols() == heads && m > 1;
  return read_groups<S>(v, beta, heads, [&](Index h, Value<S> v_h, Value<S> beta_h) {
    const Value<S> decay = per_head ? product(columns(g, h, 1), filled(g, 1, m, S(1))) : columns(g, h * m, m);
    return decaying_read<S>(columns(log_a, h * m, m), columns(log_b, h * m, m), decay, v_h, beta_h, std::nullopt,
                            MemoryRead::updated, memory_of(streams, h, heads));
  });
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
  return read_groups<S>(v, beta, heads, [&](Index h, Value<S> v_h, Value<S> beta_h) {
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
Branches<S> aft_prior(Value<S> k, Value<S> v, Value<S> beta, Streams<S>* streams) {
  const Value<S> zero = filled(v, v.rows(), 1, S(0));
  return read_groups<S>(v, beta, k.cols(), [&](Index g, Value<S> v_g, Value<S> beta_g) {
    return decaying_read<S>(zero, columns(k, g, 1), zero, v_g, beta_g, std::nullopt, MemoryRead::updated,
                            memory_of(streams, g, k.cols()));
  });
}

template <class S>
Branches<S> lrnn_prior(Value<S> g, Value<S> v, Value<S> beta, Streams<S>* streams) {
  const Value<S> zero = filled(v, v.rows(), 1, S(0));
  return read_groups<S>(v, beta, g.cols(), [&](Index n, Value<S> v_n, Value<S> beta_n) {
    return decaying_read<S>(zero, zero, columns(g, n, 1), v_n, beta_n, std::nullopt, MemoryRead::updated,
                            memory_of(streams, n, g.cols()));
  });
}

template <class S>
Branches<S> ssm_invariant_prior(const InvariantStates<S>& raw, Value<S> v, Value<S> beta, Streams<S>* streams) {
  const Value<S> dt = apply(Function::softplus, raw.dt);
  const Value<S> log_dt = apply(Function::logarithm, dt);
  const Value<S> rate = apply(Function::softplus, raw.a);
  const Value<S> log_b = log_softplus(raw.b);
  const Value<S> log_c = log_softplus(raw.c);
  const Value<S> log_direct = log_softplus(raw.direct);
  const Value<S> ones = filled(v, v.rows(), 1, S(1));
  return read_groups<S>(v, beta, v.cols(), [&](Index c, Value<S> v_c, Value<S> beta_c) {
    const auto every_token = [&](Value<S> row) { return product(ones, row); };
    const Value<S> decay = affine(rows(rate, c, 1) * columns(dt, c, 1), -1.0);
    return decaying_read<S>(every_token(rows(log_c, c, 1)), every_token(rows(log_b, c, 1) + columns(log_dt, c, 1)),
                            every_token(decay), v_c, beta_c, columns(log_direct, c, 1), MemoryRead::previous,
                            memory_of(streams, c, v.cols()));
  });
}

template <class S>
Branches<S> ssm_selective_prior(const SelectiveStates<S>& states, Value<S> v, Value<S> beta, Streams<S>* streams) {
  const Value<S> log_dt = apply(Function::logarithm, states.dt);
  const Value<S> log_b = apply(Function::logarithm, states.b);
  const Value<S> log_c = apply(Function::logarithm, states.c);
  const Value<S> rate = affine(apply(Function::softplus, states.a), -1.0);
  const Value<S> log_direct = log_softplus(states.direct);
  return read_groups<S>(v, beta, v.cols(), [&](Index c, Value<S> v_c, Value<S> beta_c) {
    return decaying_read<S>(log_c, log_b + columns(log_dt, c, 1), product(columns(states.dt, c, 1), rows(rate, c, 1)),
                            v_c, beta_c, columns(log_direct, c, 1), MemoryRead::updated,
                            memory_of(streams, c, v.cols()));
  });
}

#define NUDGE_INSTANTIATE(S)                                                                                          \
  template Branches<S> softmax_prior<S>(Value<S>, Value<S>, Value<S>, Value<S>, Index, const Mask&);                  \
  template Branches<S> gla_prior<S>(Value<S>, Value<S>, Value<S>, Value<S>, Value<S>, Index, double, Streams<S>*);    \
  template Branches<S> gla_prior_quadratic<S>(Value<S>, Value<S>, const Value<S>*, Value<S>, Value<S>, Index, double, \
                                              const Mask&);                                                           \
  template Branches<S> aft_prior<S>(Value<S>, Value<S>, Value<S>, Streams<S>*);                                       \
  template Branches<S> lrnn_prior<S>(Value<S>, Value<S>, Value<S>, Streams<S>*);                                      \
  template Branches<S> ssm_invariant_prior<S>(const InvariantStates<S>&, Value<S>, Value<S>, Streams<S>*);            \
  template Branches<S> ssm_selective_prior<S>(const SelectiveStates<S>&, Value<S>, Value<S>, Streams<S>*);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
