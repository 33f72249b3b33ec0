// SPDX-License-Identifier: Apache-2.0
#include "mixers/free_transformer/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "mixers/layers.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

std::string block_prefix(Index layer) { return fmt::format("b{}_", layer); }

AttentionHeads heads_of(const FreeTransformerShape& s) {
  return {s.heads, s.key_value_heads > 0 ? s.key_value_heads : s.heads};
}

void check(const FreeTransformerShape& s) {
  require_at_least("width", s.width, 1);
  require_divides("heads", s.heads, "width", s.width);
  if ((s.width / s.heads) % 2 != 0) {
    throw UserError(fmt::format("heads = {}: head width {} is odd (rotary positions turn pairs: use an even width)",
                                s.heads, s.width / s.heads));
  }
  require_divides("key_value_heads", heads_of(s).groups, "heads", s.heads);
  if (s.layers < 2 || s.layers % 2 != 0) {
    throw UserError(
        fmt::format("layers = {} (must be even and at least 2: the latent enters in the middle)", s.layers));
  }
  require_at_least("inner", s.inner, 1);
  require_at_least("encoder_inner", s.encoder_inner, 1);
  require_at_least("vocabulary", s.vocabulary, 1);
  if (s.bits < 1 || s.bits > 20) {
    throw UserError(fmt::format("bits H = {} (must be 1 to 20: the table of latent vectors has 2^H rows)", s.bits));
  }
}

/// Appends the rows of x to the cached ones and returns all of them.
template <class S>
Value<S> continued(Value<S> x, Matrix<S>& cached) {
  const Index seen = cached.rows();
  cached.conservativeResize(seen + x.rows(), x.cols());
  cached.bottomRows(x.rows()) = x.matrix();
  return x.tape->constant(cached);
}

/// Mask of `count` queries after `seen` keys, each attending up to its own.
Mask continued_mask(Index seen, Index count) {
  std::vector<std::uint8_t> attended(static_cast<std::size_t>(count * (seen + count)), 0);
  for (Index t = 0; t < count; ++t) {
    std::fill_n(attended.begin() + t * (seen + count), seen + t + 1, std::uint8_t{1});
  }
  return Mask::from_bytes(count, seen + count, std::move(attended));
}

/// Block with the parameters <prefix>*: queries from in_q, keys and values from in_kv. cache: continues the tokens in it; null: starts here.
template <class S>
Value<S> block_of(Value<S> in_q, Value<S> in_kv, const NamedValues<S>& parameters, const std::string& prefix,
                  AttentionHeads heads, const Mask& mask, KeyValueCache<S>* cache) {
  const auto w = [&](const char* name) { return parameters[prefix + name]; };
  const Index first = cache != nullptr ? cache->keys.rows() : 0;
  const Value<S> from_q = rms_norm(in_q) * w("n1");
  const Value<S> from_kv = in_kv.id == in_q.id ? from_q : rms_norm(in_kv) * w("n1");
  const Value<S> q = rotate_positions(product(from_q, w("Wq")), heads.queries, first);
  Value<S> k = rotate_positions(product(from_kv, w("Wk")), heads.groups, first);
  Value<S> v = product(from_kv, w("Wv"));
  if (cache != nullptr) {
    k = continued(k, cache->keys);
    v = continued(v, cache->values);
  }
  const Index m = q.cols() / heads.queries;
  const Index readers = heads.queries / heads.groups;
  const double scale = 1.0 / std::sqrt(static_cast<double>(m));
  std::vector<Value<S>> reads;
  for (Index h = 0; h < heads.queries; ++h) {
    const auto shared = [&](Value<S> x) { return columns(x, h / readers * m, m); };
    reads.push_back(product(softmax(affine(product_nt(columns(q, h * m, m), shared(k)), scale), mask), shared(v)));
  }
  const Value<S> attended = in_q + product(join_columns(reads), w("Wo"));
  return attended + feed_forward(attended, parameters, prefix);
}

/// Block for the tokens that follow those of the cache, which takes their keys and values in. It gives the rows of block() on
/// the whole sequence, without derivative with respect to earlier tokens.
template <class S>
Value<S> continued_block(Value<S> in_q, Value<S> in_kv, const NamedValues<S>& parameters, const std::string& prefix,
                         AttentionHeads heads, KeyValueCache<S>& cache) {
  return block_of<S>(in_q, in_kv, parameters, prefix, heads, continued_mask(cache.keys.rows(), in_q.rows()), &cache);
}

}  // namespace

std::vector<Field> free_transformer_fields(const FreeTransformerShape& s) {
  check(s);
  const double narrow = 1.0 / std::sqrt(static_cast<double>(s.width));
  std::vector<Field> fields = {{"emb", {s.vocabulary, s.width}, 0, 1}};
  const auto add = [&fields](std::vector<Field> more) {
    for (Field& field : more) fields.push_back(std::move(field));
  };
  for (Index l = 0; l < s.layers; ++l) add(block_fields(block_prefix(l), s.width, heads_of(s), s.inner));
  add({{"nf", {s.width}, 1}});
  if (!s.tied) add({{"read", {s.width, s.vocabulary}, 0, narrow}});
  add({{"zeta", {s.width}, 0, 1}});
  add(block_fields("enc_", s.width, heads_of(s), s.encoder_inner));
  add({{"enc_nf", {s.width}, 1},
       {"enc_read", {s.width, s.bits}, 0, narrow},
       {"post", {Index(1) << s.bits, s.width}, 0, 1}});  // an embedding like emb: a smaller one is not read
  return fields;
}

template <class S>
Value<S> FreeTransformer<S>::decoder_block(Index layer, Value<S> x, Value<S> in_kv, DecoderCache<S>* cache) const {
  const std::string prefix = block_prefix(layer);
  if (cache == nullptr) return block(x, in_kv, *parameters_, prefix, heads_of(shape_), Mask::causal(x.rows()));
  cache->resize(static_cast<std::size_t>(shape_.layers));
  return continued_block(x, in_kv, *parameters_, prefix, heads_of(shape_), (*cache)[static_cast<std::size_t>(layer)]);
}

template <class S>
Value<S> FreeTransformer<S>::lower_half(const std::vector<int>& tokens, DecoderCache<S>* cache) const {
  return lower_half(std::make_shared<const std::vector<int>>(tokens), cache);
}

template <class S>
Value<S> FreeTransformer<S>::lower_half(const SharedIndices& tokens, DecoderCache<S>* cache) const {
  Value<S> x = gather_rows((*parameters_)["emb"], tokens);
  for (Index l = 0; l < shape_.layers / 2; ++l) x = decoder_block(l, x, x, cache);
  return x;
}

template <class S>
Value<S> FreeTransformer<S>::encode(Value<S> x) const {
  const auto& p = *parameters_;
  const Value<S> ones = x.tape->constant(Matrix<S>::Ones(x.rows(), 1));
  const Value<S> queries = product(ones, p["zeta"]);
  const Value<S> y = block(queries, x, p, "enc_", heads_of(shape_), Mask::full(x.rows(), x.rows()));
  return product(rms_norm(y) * p["enc_nf"], p["enc_read"]);
}

template <class S>
Value<S> FreeTransformer<S>::upper_half(Value<S> x, Value<S> r, DecoderCache<S>* cache) const {
  const auto& p = *parameters_;
  const Index middle = shape_.layers / 2;
  x = decoder_block(middle, x, x + r, cache);
  for (Index l = middle + 1; l < shape_.layers; ++l) x = decoder_block(l, x, x, cache);
  const Value<S> out = rms_norm(x) * p["nf"];
  return shape_.tied ? tied_read(out, p["emb"]) : product(out, p["read"]);
}

template <class S>
Value<S> FreeTransformer<S>::latent(const std::vector<int>& indices) const {
  return gather_rows((*parameters_)["post"], indices);
}

template <class S>
Value<S> FreeTransformer<S>::latent(Value<S> bit_logits, std::shared_ptr<BitSampler<S>> sampler) const {
  return bit_lookup(bit_logits, (*parameters_)["post"], std::move(sampler));
}

template <class S>
Value<S> latent_information(Value<S> bit_logits) {
  return row_sum(apply(Function::bit_information, bit_logits));
}

template <class S>
Value<S> free_bits(Value<S> information, double kappa) {
  if (!(kappa >= 0) || !std::isfinite(kappa)) {
    throw UserError(fmt::format("kappa = {} (must be at least 0: nats per token that are free)", kappa));
  }
  const Value<S> above = apply(Function::relu, affine(information, 1.0, -kappa));
  return affine(total(above), 1.0 / static_cast<double>(information.rows()));
}

std::vector<Field> block_fields(const std::string& prefix, Index width, AttentionHeads heads, Index inner) {
  const double narrow = 1.0 / std::sqrt(static_cast<double>(width));
  const Index shared = width / heads.queries * heads.groups;
  std::vector<Field> fields = {{prefix + "n1", {width}, 1},
                               {prefix + "Wq", {width, width}, 0, narrow},
                               {prefix + "Wk", {width, shared}, 0, narrow},
                               {prefix + "Wv", {width, shared}, 0, narrow},
                               {prefix + "Wo", {width, width}, 0, narrow}};
  for (Field& field : feed_forward_fields(prefix, width, inner)) fields.push_back(std::move(field));
  return fields;
}

template <class S>
Value<S> block(Value<S> in_q, Value<S> in_kv, const NamedValues<S>& parameters, const std::string& prefix,
               AttentionHeads heads, const Mask& mask) {
  return block_of<S>(in_q, in_kv, parameters, prefix, heads, mask, nullptr);
}

#define NUDGE_MODEL(S)                                                                                      \
  template class FreeTransformer<S>;                                                                        \
  template Value<S> latent_information<S>(Value<S>);                                                        \
  template Value<S> free_bits<S>(Value<S>, double);                                                         \
  template Value<S> block<S>(Value<S>, Value<S>, const NamedValues<S>&, const std::string&, AttentionHeads, \
                             const Mask&);
NUDGE_BOTH_PRECISIONS(NUDGE_MODEL)

namespace {

constexpr std::uint32_t kLatents = 1;  ///< entities of the random streams
constexpr std::uint32_t kTokens = 2;

template <class S>
NamedValues<S> bind(Tape<S>& tape, const FreeTransformerShape& shape, const std::vector<Matrix<S>>& parameters) {
  const auto fields = free_transformer_fields(shape);
  NUDGE_EXPECT(fields.size() == parameters.size());
  NamedValues<S> named;
  for (std::size_t k = 0; k < fields.size(); ++k) named.add(fields[k].name, tape.parameter(parameters[k]));
  return named;
}

/// Class drawn from softmax(logits/temperature) with the uniform number u.
template <class S>
int draw(const Matrix<S>& logits, Index row, double temperature, double u) {
  Index best = 0;
  logits.row(row).maxCoeff(&best);
  if (temperature == 0) return static_cast<int>(best);
  const auto top = static_cast<double>(logits(row, best));
  std::vector<double> weight;
  double sum = 0;
  for (Index k = 0; k < logits.cols(); ++k) {
    weight.push_back(std::exp((static_cast<double>(logits(row, k)) - top) / temperature));
    sum += weight.back();
  }
  double left = u * sum;
  for (std::size_t k = 0; k < weight.size(); ++k) {
    left -= weight[k];
    if (left < 0) return static_cast<int>(k);
  }
  return static_cast<int>(best);
}

}  // namespace

std::vector<int> prior_latents(Index tokens, Index bits, std::uint64_t seed, std::uint32_t sequence) {
  std::vector<int> latents;
  latents.reserve(tokens);
  for (Index t = 0; t < tokens; ++t) {
    latents.push_back(
        static_cast<int>(random_below(std::uint64_t(1) << bits, RngKey{seed, Purpose::latent_bits, kLatents}, sequence,
                                      0, static_cast<std::uint32_t>(t))));
  }
  return latents;
}

template <class S>
std::vector<int> prior_latents(Index tokens, Index bits, BitSampler<S>& sampler) {
  std::vector<std::uint8_t> drawn;
  sampler.draw(Matrix<S>::Zero(tokens, bits), drawn);
  return bit_index(drawn, bits);
}

template <class S>
std::vector<int> prefill_latents(const FreeTransformerShape& shape, const std::vector<Matrix<S>>& parameters,
                                 const std::vector<int>& prompt, Index tokens, BitSampler<S>& sampler,
                                 std::uint64_t seed, std::uint32_t sequence) {
  std::vector<int> latents = prior_latents(tokens, shape.bits, seed, sequence);
  if (prompt.empty()) return latents;
  Tape<S> tape;
  const NamedValues<S> named = bind(tape, shape, parameters);
  const FreeTransformer<S> model(shape, named);
  std::vector<std::uint8_t> bits;
  sampler.draw(model.encode(model.lower_half(prompt)).matrix(), bits);
  const std::vector<int> seen = bit_index(bits, shape.bits);
  for (std::size_t t = 0; t < seen.size() && t < latents.size(); ++t) latents[t] = seen[t];
  return latents;
}

template <class S>
std::vector<int> generate(const FreeTransformerShape& shape, const std::vector<Matrix<S>>& parameters,
                          std::vector<int> prompt, const std::vector<int>& latents, double temperature,
                          std::uint64_t seed, std::uint32_t sequence) {
  if (prompt.empty() || prompt.size() > latents.size()) {
    throw UserError(fmt::format("a prompt of {} tokens (must be 1 to the {} tokens of the latents)", prompt.size(),
                                latents.size()));
  }
  if (!(temperature >= 0)) throw UserError(fmt::format("temperature = {} (must be at least 0)", temperature));
  std::vector<double> u(latents.size());
  fill_uniform<double>(RngKey{seed, Purpose::latent_bits, kTokens}, sequence, 0, u);
  DecoderCache<S> cache;
  std::ptrdiff_t seen = 0;
  while (prompt.size() < latents.size()) {
    // The decoder is causal in tokens and latents: what has been seen does not change with what follows.
    Tape<S> tape;
    const NamedValues<S> named = bind(tape, shape, parameters);
    const FreeTransformer<S> model(shape, named);
    const auto known = static_cast<std::ptrdiff_t>(prompt.size());
    const Value<S> r = model.latent(std::vector<int>(latents.begin() + seen, latents.begin() + known));
    const std::vector<int> fresh(prompt.begin() + seen, prompt.end());
    const Value<S> logits = model.upper_half(model.lower_half(fresh, &cache), r, &cache);
    seen = known;
    prompt.push_back(draw(logits.matrix(), logits.rows() - 1, temperature, u[prompt.size()]));
  }
  return prompt;
}

#define NUDGE_GENERATE(S)                                                                                             \
  template std::vector<int> prior_latents<S>(Index, Index, BitSampler<S>&);                                           \
  template std::vector<int> prefill_latents<S>(const FreeTransformerShape&, const std::vector<Matrix<S>>&,            \
                                               const std::vector<int>&, Index, BitSampler<S>&, std::uint64_t,         \
                                               std::uint32_t);                                                        \
  template std::vector<int> generate<S>(const FreeTransformerShape&, const std::vector<Matrix<S>>&, std::vector<int>, \
                                        const std::vector<int>&, double, std::uint64_t, std::uint32_t);
NUDGE_BOTH_PRECISIONS(NUDGE_GENERATE)

}  // namespace nudge
