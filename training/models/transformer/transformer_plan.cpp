// SPDX-License-Identifier: Apache-2.0
#include "training/models/transformer/transformer_plan.hpp"

#include <fmt/format.h>

#include <cmath>

#include "circuits/terms/coupling.hpp"
#include "mixers/attention/heads.hpp"
#include "mixers/ops/operations.hpp"
#include "training/learning/row_norm.hpp"

namespace nudge {
namespace {

/// Random streams: tok, pos and the read-out, then four per layer.
enum Stream : std::uint32_t { tok, pos, readout, layers };

Columns columns_of(Index node, Index channels) { return {node * channels, channels}; }

template <class S>
std::vector<std::unique_ptr<Term<S>>> transformer_terms(const TransformerPlan& plan, const Maps<S>& maps) {
  const TransformerShape& s = plan.shape();
  const auto weight = [&maps](int parameter) -> typename TapeTerm<S>::Weight {
    return {parameter, maps[static_cast<std::size_t>(parameter)].get()};
  };
  const auto n = static_cast<int>(s.nodes());
  std::vector<std::unique_ptr<Term<S>>> terms;
  for (int j = 0; j < n; ++j) {
    const TransformerPlan::Layer layer = plan.layer(j / 2 % s.layers);
    const bool first = j == 0;
    const TapePlace place{first ? Term<S>::kInput : j - 1,
                          first ? Columns{0, s.channels} : columns_of(j - 1, s.channels),
                          j,
                          columns_of(j, s.channels),
                          1.0,
                          1.0};
    if (j % 2 == 0 && s.mixer.is_fused()) {
      terms.push_back(attention_layer<S>(place, s.heads, s.rotary, weight(layer.qkv()), weight(layer.o())));
    } else if (j % 2 == 0) {
      std::vector<typename TapeTerm<S>::Weight> weights;
      for (std::size_t k = 0; k < plan.readable().size(); ++k) {
        weights.push_back(weight(layer.mixer + static_cast<int>(k)));
        weights.back().read = plan.readable()[k];
      }
      terms.push_back(mixer_layer<S>(place, s.mixer, std::move(weights)));
    } else if (s.feed_forward == FeedForward::memory) {
      terms.push_back(memory_layer<S>(place, weight(layer.first)));
    } else {
      terms.push_back(feed_forward_layer<S>(place, s.activation, weight(layer.first), weight(layer.second)));
    }
  }
  for (int j = 0; s.feedback > 0 && j + 1 < n; ++j) {
    terms.push_back(std::make_unique<NodeCoupling<S>>(j + 1, columns_of(j + 1, s.channels), j,
                                                      columns_of(j, s.channels), static_cast<S>(s.feedback)));
  }
  return terms;
}

template <class S>
void initial_weights(const TransformerPlan& plan, const TransformerScales& scales, std::uint64_t seed,
                     std::vector<Matrix<S>>& weights) {
  const TransformerShape& s = plan.shape();
  const auto root = [](Index n) { return std::sqrt(static_cast<double>(n)); };
  weights.clear();
  weights.push_back(normal_matrix<S>(s.vocabulary, s.channels, scales.embedding, seed, Stream::tok));
  if (!s.rotary) weights.push_back(normal_matrix<S>(s.tokens, s.channels, scales.embedding, seed, Stream::pos));
  std::uint32_t stream = Stream::layers;
  for (Index l = 0; l < s.layers; ++l) {
    const auto add = [&](Index rows, Index cols, double deviation) {
      weights.push_back(normal_matrix<S>(rows, cols, deviation, seed, stream++));
    };
    if (s.mixer.is_fused()) {
      add(s.channels, 3 * s.channels, scales.projection / root(s.channels));
      add(s.channels, s.channels, scales.output / root(s.channels * s.layers));
    }
    for (const Field& field : plan.mixer_fields()) {
      add(field.rows(), field.cols(), scales.projection * field.deviation);
      weights.back().array() += static_cast<S>(field.mean);
    }
    if (s.feed_forward == FeedForward::memory) {
      add(s.channels, s.hidden, std::sqrt(scales.output / (static_cast<double>(s.hidden) * root(s.layers))));
      continue;
    }
    add(s.channels, s.hidden, scales.projection / root(s.channels));
    add(s.hidden, s.channels, scales.output / root(s.hidden * s.layers));
  }
  weights.push_back(
      normal_matrix<S>(s.channels, s.vocabulary, scales.readout / root(s.channels), seed, Stream::readout));
}

}  // namespace

TransformerPlan::TransformerPlan(const TransformerShape& shape, const TransformerScales& scales)
    : shape_(shape), scales_(scales) {
  if (shape.mixer.is_fused()) return;
  mixer_ = mixer_spec(shape.mixer).parameters;
  readable_ = readable_parameters(shape.mixer);
}

std::vector<Node> TransformerPlan::nodes() const {
  std::vector<Node> nodes;
  const Index n = shape_.nodes();
  for (Index j = 0; j < n; ++j) {
    const std::string name = fmt::format("k{}_l{}_{}", j / 2 / shape_.layers, j / 2 % shape_.layers,
                                         j % 2 == 0 ? "attention" : "feed_forward");
    nodes.push_back({name, columns_of(j, shape_.channels), j + 1 < n ? 1 + shape_.feedback : 1.0, false, false});
  }
  return nodes;
}

TransformerPlan::Layer TransformerPlan::layer(Index l) const {
  const int mixing = shape_.mixer.is_fused() ? 2 : static_cast<int>(mixer_.size());
  const int forward = shape_.feed_forward == FeedForward::memory ? 1 : 2;
  const int first = (shape_.rotary ? 1 : 2) + (mixing + forward) * static_cast<int>(l);
  return {first, first + mixing, first + mixing + forward - 1};
}

NodeReadout TransformerPlan::readout() const {
  return {layer(shape_.layers).mixer, static_cast<int>(shape_.nodes()) - 1, Normalization::rms};
}

std::vector<Parameter> TransformerPlan::parameters() const {
  const Index c = shape_.channels;
  std::vector<Parameter> all = {table_parameter("tok", {shape_.vocabulary, c}, shape_.tables_on_devices)};
  if (!shape_.rotary) all.push_back(table_parameter("pos", {shape_.tokens, c}, shape_.tables_on_devices));
  for (Index l = 0; l < shape_.layers; ++l) {
    if (shape_.mixer.is_fused()) {
      all.push_back({fmt::format("l{}_qkv", l), {c, 3 * c}, true});
      all.push_back({fmt::format("l{}_o", l), {c, c}, true});
    }
    for (std::size_t k = 0; k < mixer_.size(); ++k) {
      all.push_back(
          {fmt::format("l{}_{}", l, mixer_[k].name), {mixer_[k].rows(), mixer_[k].cols()}, readable_[k], readable_[k]});
    }
    all.push_back({fmt::format("l{}_1", l), {c, shape_.hidden}, true});
    if (shape_.feed_forward == FeedForward::two_layer) {
      all.push_back({fmt::format("l{}_2", l), {shape_.hidden, c}, true});
    }
  }
  all.push_back({"Wh", {c, shape_.vocabulary}, true});
  return all;
}

std::vector<ParameterGroup> TransformerPlan::groups() const {
  const Index c = shape_.channels;
  std::vector<ParameterGroup> groups = {{"tok", 0, {0, c}}};
  if (!shape_.rotary) groups.push_back({"pos", 1, {0, c}});
  for (Index l = 0; l < shape_.layers; ++l) {
    const Layer at = layer(l);
    const auto add = [&](const char* name, int parameter, Columns columns) {
      groups.push_back({fmt::format("l{}_{}", l, name), parameter, columns});
    };
    if (shape_.mixer.is_fused()) {
      add("Wq", at.qkv(), {0, c});
      add("Wk", at.qkv(), {c, c});
      add("Wv", at.qkv(), {2 * c, c});
      add("Wo", at.o(), {0, c});
    }
    for (std::size_t k = 0; k < mixer_.size(); ++k) {
      add(mixer_[k].name.c_str(), at.mixer + static_cast<int>(k), {0, mixer_[k].cols()});
    }
    add("W1", at.first, {0, shape_.hidden});
    if (shape_.feed_forward == FeedForward::two_layer) add("W2", at.second, {0, c});
  }
  groups.push_back({"Wh", readout().parameter, {0, shape_.vocabulary}, true});
  return groups;
}

NUDGE_PLAN(TransformerPlan, initial_weights(*this, scales_, seed, weights), transformer_terms(*this, maps))

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
