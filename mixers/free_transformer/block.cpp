// SPDX-License-Identifier: Apache-2.0
#include "mixers/free_transformer/block.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mixers/feed_forward.hpp"
#include "mixers/ops/arithmetic.hpp"
#include "mixers/ops/layout.hpp"
#include "mixers/ops/normalize.hpp"
#include "mixers/ops/product.hpp"
#include "mixers/ops/rope.hpp"
#include "mixers/ops/softmax.hpp"

namespace nudge {

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

namespace {

/// Appends the rows of x to the cached ones, and gives all of them.
template <class S>
Value<S> continued(Value<S> x, Matrix<S>& cached) {
  const Index seen = cached.rows();
  cached.conservativeResize(seen + x.rows(), x.cols());
  cached.bottomRows(x.rows()) = x.matrix();
  return x.tape->constant(cached);
}

/// `count` queries after `seen` keys, each up to its own.
Mask continued_mask(Index seen, Index count) {
  std::vector<std::uint8_t> attended(static_cast<std::size_t>(count * (seen + count)), 0);
  for (Index t = 0; t < count; ++t) {
    std::fill_n(attended.begin() + t * (seen + count), seen + t + 1, std::uint8_t{1});
  }
  return Mask::from_bytes(count, seen + count, std::move(attended));
}

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

}  // namespace

template <class S>
Value<S> block(Value<S> in_q, Value<S> in_kv, const NamedValues<S>& parameters, const std::string& prefix,
               AttentionHeads heads, const Mask& mask) {
  return block_of<S>(in_q, in_kv, parameters, prefix, heads, mask, nullptr);
}

template <class S>
Value<S> continued_block(Value<S> in_q, Value<S> in_kv, const NamedValues<S>& parameters, const std::string& prefix,
                         AttentionHeads heads, KeyValueCache<S>& cache) {
  return block_of<S>(in_q, in_kv, parameters, prefix, heads, continued_mask(cache.keys.rows(), in_q.rows()), &cache);
}

#define NUDGE_INSTANTIATE(S)                                                                                          \
  template Value<S> block<S>(Value<S>, Value<S>, const NamedValues<S>&, const std::string&, AttentionHeads,           \
                             const Mask&);                                                                            \
  template Value<S> continued_block<S>(Value<S>, Value<S>, const NamedValues<S>&, const std::string&, AttentionHeads, \
                                       KeyValueCache<S>&);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
