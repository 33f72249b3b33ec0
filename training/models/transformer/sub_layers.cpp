// SPDX-License-Identifier: Apache-2.0
#include "training/models/transformer/transformer_plan.hpp"

#include "mixers/attention/heads.hpp"
#include "mixers/ops/operations.hpp"
#include "training/learning/row_norm.hpp"

namespace nudge {
namespace {

constexpr double kNormEpsilon = RowNorm<double>::epsilon;  // one norm for nodes and read-out

/// Normed tokens as moved by a layer: m + z_j − u, at rest m + G.
template <class S>
Value<S> moved_tokens(Value<S> state, Value<S> u, Value<S> m) {
  return m + (state - u);
}

}  // namespace

template <class S>
Value<S> attention_update(Value<S> u, Value<S> qkv, Value<S> output, Index heads, bool rotary,
                          std::vector<Matrix<S>>* probabilities) {
  const Index c = u.cols();
  const Value<S> all = product(rms_norm(u, 1, kNormEpsilon), qkv);
  const auto part = [&](Index k) {
    const Value<S> x = columns(all, k * c, c);
    return rotary && k < 2 ? rotate_positions(x, heads, 0, RotaryPairs::halves) : x;
  };
  return product(attend_heads(part(0), part(1), part(2), heads, Mask::causal(u.rows()), probabilities), output);
}

template <class S>
std::unique_ptr<TapeTerm<S>> attention_layer(const TapePlace& place, Index heads, bool rotary,
                                             typename TapeTerm<S>::Weight qkv, typename TapeTerm<S>::Weight output) {
  const auto record = [heads, rotary](Tape<S>& /*tape*/, Value<S> u, const std::vector<Value<S>>& w) {
    return attention_update(u, w[0], w[1], heads, rotary);
  };
  return std::make_unique<TapeTerm<S>>("attention_layer", place, std::vector<typename TapeTerm<S>::Weight>{qkv, output},
                                       record);
}

template <class S>
std::unique_ptr<TapeTerm<S>> mixer_layer(const TapePlace& place, const MixerChoice& mixer,
                                         std::vector<typename TapeTerm<S>::Weight> weights) {
  const bool residual = mixer_spec(mixer).residual;
  const auto record = [mixer, residual](Tape<S>& /*tape*/, Value<S> u, const std::vector<Value<S>>& w) {
    const Value<S> m = rms_norm(u, 1, kNormEpsilon);
    const Value<S> y = mixed(mixer, m, w);
    return residual ? y - m : y;
  };
  typename TapeTerm<S>::RecordEnergy energy;
  if (has_layer_energy(mixer)) {
    energy = [mixer](Value<S> state, Value<S> u, const std::vector<Value<S>>& w) {
      const Value<S> m = rms_norm(u, 1, kNormEpsilon);
      return mixed_energy(mixer, moved_tokens(state, u, m), m, w);
    };
  }
  return std::make_unique<TapeTerm<S>>(mixer.kind, place, std::move(weights), record, std::move(energy));
}

template <class S>
std::unique_ptr<TapeTerm<S>> feed_forward_layer(const TapePlace& place, Activation activation,
                                                typename TapeTerm<S>::Weight first,
                                                typename TapeTerm<S>::Weight second) {
  const Function phi = activation == Activation::relu2 ? Function::squared_relu : Function::gelu;
  const auto record = [phi](Tape<S>& /*tape*/, Value<S> u, const std::vector<Value<S>>& w) {
    return product(apply(phi, product(rms_norm(u, 1, kNormEpsilon), w[0])), w[1]);
  };
  return std::make_unique<TapeTerm<S>>("feed_forward_layer", place,
                                       std::vector<typename TapeTerm<S>::Weight>{first, second}, record);
}

template <class S>
std::unique_ptr<TapeTerm<S>> memory_layer(const TapePlace& place, typename TapeTerm<S>::Weight patterns) {
  const auto record = [](Tape<S>& /*tape*/, Value<S> u, const std::vector<Value<S>>& w) {
    return product_nt(affine(apply(Function::relu, product(rms_norm(u, 1, kNormEpsilon), w[0])), 2.0), w[0]);
  };
  const auto energy = [](Value<S> state, Value<S> u, const std::vector<Value<S>>& w) {
    const Value<S> m = moved_tokens(state, u, rms_norm(u, 1, kNormEpsilon));
    return affine(row_sum(apply(Function::squared_relu, product(m, w[0]))), -1.0);
  };
  return std::make_unique<TapeTerm<S>>("memory_layer", place, std::vector<typename TapeTerm<S>::Weight>{patterns},
                                       record, energy);
}

#define NUDGE_SUB_LAYERS(S)                                                                                      \
  template Value<S> attention_update<S>(Value<S>, Value<S>, Value<S>, Index, bool, std::vector<Matrix<S>>*);     \
  template std::unique_ptr<TapeTerm<S>> attention_layer<S>(const TapePlace&, Index, bool, TapeTerm<S>::Weight,   \
                                                           TapeTerm<S>::Weight);                                 \
  template std::unique_ptr<TapeTerm<S>> mixer_layer<S>(const TapePlace&, const MixerChoice&,                     \
                                                       std::vector<TapeTerm<S>::Weight>);                        \
  template std::unique_ptr<TapeTerm<S>> feed_forward_layer<S>(const TapePlace&, Activation, TapeTerm<S>::Weight, \
                                                              TapeTerm<S>::Weight);                              \
  template std::unique_ptr<TapeTerm<S>> memory_layer<S>(const TapePlace&, TapeTerm<S>::Weight);
NUDGE_BOTH_PRECISIONS(NUDGE_SUB_LAYERS)

}  // namespace nudge
