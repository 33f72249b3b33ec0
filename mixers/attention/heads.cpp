// SPDX-License-Identifier: Apache-2.0
#include "mixers/attention/heads.hpp"

#include <fmt/format.h>

#include <cmath>

#include "mixers/ops/operations.hpp"
#include "mixers/ops/softmax.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

const Section<AttentionOptions>& head_section() {
  using param::integer;
  using param::zero_is;
  static const Section<AttentionOptions> section = {
      field(zero_is("auto", integer("mixer.head_width", "auto", between(0, 65536),
                                    "Channels of the queries, keys and values of one head; auto: C/H.")),
            &AttentionOptions::head_width),
      field(zero_is("auto", integer("mixer.key_value_heads", "auto", between(0, 65536),
                                    "Heads G of keys and values, each read by H/G heads of queries (grouped-query "
                                    "attention): mha, momen, nag, *_stack and free_transformer; auto: H.",
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

}  // namespace nudge
