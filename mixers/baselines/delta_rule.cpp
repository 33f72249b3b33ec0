// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "mixers/attention/heads.hpp"
#include "mixers/baselines/short_convolution.hpp"
#include "mixers/mixer.hpp"
#include "mixers/ops/operations.hpp"

namespace nudge {
namespace {

enum class Forgets { never, by_gate };

MixerSpec delta_spec(const MixerOptions& o, Forgets forgets) {
  require_at_least("heads", o.heads, 1);
  require_at_least("head_width", o.of<AttentionOptions>().head_width, 1);
  require_divides("heads", o.heads, "width", o.width);
  const Index keys = o.heads * o.of<AttentionOptions>().head_width, c = o.width;
  std::vector<Field> all = {dense("Wq", c, keys),         dense("Wk", c, keys),         dense("Wv", c, c),
                            taps("cq", kShortTaps, keys), taps("ck", kShortTaps, keys), taps("cv", kShortTaps, c),
                            dense("Wb", c, o.heads)};
  if (forgets == Forgets::by_gate) {
    all.push_back(dense("Wa", c, o.heads));
    all.push_back({"A", {o.heads}, 1.0, 0.7});    // e^A around the middle of (0, 16)
    all.push_back({"dt", {o.heads}, -3.0, 0.5});  // softplus: steps of a few hundredths
    all.push_back(dense("W_g", c, c));
  }
  all.push_back({"n", {c}, 1});
  all.push_back(dense("Wo", c, c));
  return causal_update(c, std::move(all));
}

/// Rows of each head scaled to unit length.
template <class S>
Value<S> unit_rows(Value<S> x, Index heads) {
  return affine(rms_norm(x, heads), 1.0 / std::sqrt(static_cast<double>(x.cols() / heads)));
}

template <class S, Forgets forgets>
void delta_rule(MixerCall<S>& call) {
  const Value<S> z = call.inputs["z"];
  const Index heads = call.options.heads;
  const auto& p = call.parameters;
  const Value<S> q = unit_rows(convolved(call, z, "Wq", "cq"), heads),
                 k = unit_rows(convolved(call, z, "Wk", "ck"), heads);
  const Value<S> v = convolved(call, z, "Wv", "cv"), rate = apply(Function::sigmoid, product(z, p["Wb"]));
  Value<S> decay = z.tape->constant(Matrix<S>::Zero(z.rows(), heads));
  if constexpr (forgets == Forgets::by_gate) {
    decay =
        apply(Function::softplus, product(z, p["Wa"]) + p["dt"]) * affine(apply(Function::exponential, p["A"]), -1.0);
  }
  std::vector<Value<S>> reads;
  const Index m = q.cols() / heads, n = v.cols() / heads;
  for (Index h = 0; h < heads; ++h) {
    reads.push_back(delta_read(columns(q, h * m, m), columns(k, h * m, m), columns(v, h * n, n), columns(rate, h, 1),
                               columns(decay, h, 1)));
  }
  Value<S> out = rms_norm(join_columns(reads), heads) * p["n"];
  if constexpr (forgets == Forgets::by_gate) out = out * apply(Function::silu, product(z, p["W_g"]));
  call.outputs = {product(out, p["Wo"])};
}

}  // namespace

/// deltanet (Yang et al., arXiv:2406.06484): q, k = unit(silu(conv(z W))), v = silu(conv(z W_v)), β = sigmoid(z W_β), each head reads a
/// memory that is corrected by the delta rule (delta_read), u = RMS(o) ∘ n W_o. gated_deltanet (Yang et al., arXiv:2412.06464): the
/// memory fades by e^g, g = −e^A softplus(z W_a + dt), and the read passes silu(z W_g). One n per channel, where the
/// published code has one per channel of a head. Options: width, heads, head_width (of queries and keys).
template <class S>
MixerKind<S> deltanet_mixer() {
  return reading<S>(
      {"deltanet", "memory corrected by the delta rule",
       [](const MixerOptions& o) { return delta_spec(o, Forgets::never); }, delta_rule<S, Forgets::never>},
      head_width_key, fit_heads);
}
template <class S>
MixerKind<S> gated_deltanet_mixer() {
  return reading<S>(
      {"gated_deltanet", "memory with decay, corrected by the delta rule",
       [](const MixerOptions& o) { return delta_spec(o, Forgets::by_gate); }, delta_rule<S, Forgets::by_gate>},
      head_width_key, fit_heads);
}

#define NUDGE_DELTA_RULE(S)                  \
  template MixerKind<S> deltanet_mixer<S>(); \
  template MixerKind<S> gated_deltanet_mixer<S>();
NUDGE_BOTH_PRECISIONS(NUDGE_DELTA_RULE)

}  // namespace nudge
