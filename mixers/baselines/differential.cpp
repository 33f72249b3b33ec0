// SPDX-License-Identifier: Apache-2.0
#include "mixers/baselines/short_convolution.hpp"
#include "mixers/ops/softmax.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// λ_init of the first layer: 0.8 − 0.6 e^0. Published layers further up start from more.
constexpr double kStart = 0.2;

MixerSpec differential_spec(const MixerOptions& o) {
  require_at_least("heads", o.heads, 1);
  require_divides("2 heads", 2 * o.heads, "width", o.width);
  const Index c = o.width, m = c / (2 * o.heads);
  if (o.rope && m % 2 != 0) throw UserError("width/(2 heads) is odd (rotary positions turn pairs: use an even width)");
  MixerSpec spec = causal_update(c, {dense("Wq", c, c),
                                     dense("Wk", c, c),
                                     dense("Wv", c, c),
                                     {"lq1", {m}, 0, 0.1},
                                     {"lk1", {m}, 0, 0.1},
                                     {"lq2", {m}, 0, 0.1},
                                     {"lk2", {m}, 0, 0.1},
                                     {"n", {c}, 1},
                                     dense("Wo", c, c)});
  spec.attends = true;
  spec.only_causal = false;
  return spec;
}

template <class S>
void differential(MixerCall<S>& call) {
  const Value<S> z = call.inputs["z"];
  const auto& p = call.parameters;
  const Index heads = call.options.heads, m = z.cols() / (2 * heads);
  const auto turned = [&](const char* name) {
    const Value<S> x = product(z, p[name]);
    return call.options.rope ? rotate_positions(x, 2 * heads) : x;
  };
  const Value<S> q = turned("Wq"), k = turned("Wk"), v = product(z, p["Wv"]);
  const auto part = [&](const char* a, const char* b) { return apply(Function::exponential, row_sum(p[a] * p[b])); };
  const Value<S> lambda = affine(part("lq1", "lk1") - part("lq2", "lk2"), 1.0, kStart);
  const auto attention = [&](Index at) {
    const Value<S> scores = product_nt(columns(q, at * m, m), columns(k, at * m, m));
    return softmax(affine(scores, 1.0 / std::sqrt(static_cast<double>(m))), call.mask);
  };
  std::vector<Value<S>> reads;
  for (Index h = 0; h < heads; ++h) {
    reads.push_back(product(attention(2 * h) - attention(2 * h + 1) * lambda, columns(v, 2 * h * m, 2 * m)));
  }
  const Value<S> normed = affine(rms_norm(join_columns(reads), heads), 1.0 - kStart);
  call.outputs = {product(normed * p["n"], p["Wo"])};
}

}  // namespace

/// differential (Ye et al., arXiv:2410.05258): per head two softmax maps of half its width, (P₁ − λ P₂) v with λ =
/// e^{λq₁·λk₁} − e^{λq₂·λk₂} + 0.2, u = 0.8 RMS_head(…) ∘ n W_o. One n per channel, where the published code has one per
/// channel of a head; λ_init is that of the first layer everywhere. Options: width, heads, rope.
template <class S>
MixerKind<S> differential_mixer() {
  return reading<S>({"differential", "difference of two softmax attentions", differential_spec, differential<S>},
                    rope_key);
}

template MixerKind<float> differential_mixer<float>();
template MixerKind<double> differential_mixer<double>();

}  // namespace nudge
