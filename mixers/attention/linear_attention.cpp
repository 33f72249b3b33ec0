// SPDX-License-Identifier: Apache-2.0
#include "mixers/attention/heads.hpp"
#include "mixers/ops/operations.hpp"
#include "mixers/ops/softmax.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

MixerSpec linear_spec(const MixerOptions& o) {
  if (o.heads != 1 || o.of<AttentionOptions>().head_width != o.width) {
    throw UserError("heads, head_width: linear attention has one head of the state's width");
  }
  return state_to_state(o, {head_projection("Wq", o), head_projection("Wk", o), head_projection("Wv", o)});
}

template <class S>
Value<S> scores(const MixerCall<S>& call, Value<S> z) {
  return product_nt(product_nt(z, call.parameters["Wq"]), product_nt(z, call.parameters["Wk"]));
}

}  // namespace

/// linattn: y = z + Σ_i (Wq z·Wk h_i) Wv h_i, no softmax, no scale (Ren et al., "Transformers as Intrinsic Optimizers", theorem 2: gradient descent on
/// −T/2 Σ (Wq z·Wk h_i)² with W_V = ηT Wqᵀ Wk). One head. That energy is unbounded below, quartic in the tokens when they are
/// their own context. Options: width. Observed: "energy" (tokens, 1) at T = 1.
template <class S>
MixerKind<S> linattn_mixer() {
  return reading<S>({"linattn", "linear attention without features", linear_spec,
                     [](MixerCall<S>& call) {
                       const Value<S> z = call.inputs["z"];
                       const Value<S> pairs = masked(scores(call, z), call.mask);
                       if (call.options.observe) call.observed.add("energy", affine(row_sum(pairs * pairs), -0.5));
                       call.outputs = {z + product(pairs, product_nt(z, call.parameters["Wv"]))};
                     }},
                    head_width_key, fit_heads);
}

/// glinattn: y_t = z_t + Σ_{i≤t} exp(Σ_{τ=i+1..t} g_τ) (Wq z_t·Wk h_i) Wv h_i with g = −softplus(g_raw); input g_raw
/// (tokens, 1). Causal only. Gradient descent on an energy only for gates that do not depend on z (the paper's gated
/// theorem needs them held fixed). Options: width.
template <class S>
MixerKind<S> glinattn_mixer() {
  return reading<S>({"glinattn", "gated linear attention with given gates",
                     [](const MixerOptions& o) {
                       MixerSpec spec = linear_spec(o);
                       spec.only_causal = true;
                       spec.inputs.push_back({"g_raw", {-1, 1}});
                       return spec;
                     },
                     [](MixerCall<S>& call) {
                       if (!call.mask.is_causal()) throw UserError("mask: gated linear attention is causal");
                       const Value<S> z = call.inputs["z"];
                       const Value<S> decay =
                           decay_matrix(affine(apply(Function::softplus, call.inputs["g_raw"]), -1.0));
                       call.outputs = {z + product(decay * scores(call, z), product_nt(z, call.parameters["Wv"]))};
                     }},
                    head_width_key, fit_heads);
}

#define NUDGE_LINEAR_ATTENTION(S)           \
  template MixerKind<S> linattn_mixer<S>(); \
  template MixerKind<S> glinattn_mixer<S>();
NUDGE_BOTH_PRECISIONS(NUDGE_LINEAR_ATTENTION)

}  // namespace nudge
