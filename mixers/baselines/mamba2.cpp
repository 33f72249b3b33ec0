// SPDX-License-Identifier: Apache-2.0
#include "mixers/baselines/mamba2.hpp"

#include "mixers/baselines/short_convolution.hpp"

namespace nudge {
namespace {

MixerKeys state_keys(const MixerOptions& /*made*/) {
  static const Section<MambaOptions> section = {field(
      param::integer("mixer.states", "16", between(1, 65536), "fem_ssm*: states N per channel; mamba2: per head."),
      &MambaOptions::states)};
  return keys_of(section, {&MambaOptions::states});
}

MixerSpec mamba_spec(const MixerOptions& o) {
  require_at_least("heads", o.heads, 1);
  require_at_least("states", o.of<MambaOptions>().states, 1);
  require_divides("heads", o.heads, "width", o.width);
  const Index c = o.width, n = o.of<MambaOptions>().states;
  return causal_update(c, {dense("Wx", c, c),
                           dense("Wz", c, c),
                           dense("WB", c, n),
                           dense("WC", c, n),
                           dense("Wdt", c, o.heads),
                           taps("cx", kShortTaps, c),
                           taps("cB", kShortTaps, n),
                           taps("cC", kShortTaps, n),
                           {"dt", {o.heads}, -3.0, 0.5},  // softplus: steps of a few hundredths
                           {"A", {o.heads}, 1.0, 0.7},    // e^A around the middle of (1, 16)
                           {"D", {o.heads}, 1.0},
                           {"n", {c}, 1},
                           dense("Wo", c, c)});
}

/// Outputs y_t = Σ_{i ≤ t} (C_t·B_i) e^{Σ_{i<τ≤t} g_τ} Δ_i x_i + D x_t as T × T products.
template <class S>
void mamba(MixerCall<S>& call) {
  const Value<S> z = call.inputs["z"];
  const auto& p = call.parameters;
  const Value<S> x = convolved(call, z, "Wx", "cx");
  const Value<S> pairs = product_nt(convolved(call, z, "WC", "cC"), convolved(call, z, "WB", "cB"));
  const Value<S> step = apply(Function::softplus, product(z, p["Wdt"]) + p["dt"]);
  const Value<S> decay = step * affine(apply(Function::exponential, p["A"]), -1.0);
  const Index heads = call.options.heads, m = x.cols() / heads;
  std::vector<Value<S>> reads;
  for (Index h = 0; h < heads; ++h) {
    const Value<S> x_h = columns(x, h * m, m);
    reads.push_back(product(pairs * decay_matrix(columns(decay, h, 1)), x_h * columns(step, h, 1)) +
                    x_h * columns(p["D"], h, 1));
  }
  const Value<S> gated = join_columns(reads) * apply(Function::silu, product(z, p["Wz"]));
  call.outputs = {product(rms_norm(gated) * p["n"], p["Wo"])};
}

}  // namespace

/// mamba2 (Dao & Gu, arXiv:2405.21060, structured state-space duality with a decay per head): x, B, C = silu(conv(z W)), Δ = softplus(z W_dt
/// + dt), per head S_t = e^{−Δ e^A} S_{t−1} + Δ_t B_t x_tᵀ, y_t = C_tᵀ S_t + D x_t, u = RMS(y ∘ silu(z W_z)) ∘ n W_o; B and C are
/// common to all heads. Inner width = width (published: twice). Options: width, heads, states.
template <class S>
MixerKind<S> mamba2_mixer() {
  return reading<S>({"mamba2", "state-space duality with a decay per head", mamba_spec, mamba<S>}, state_keys);
}

template MixerKind<float> mamba2_mixer<float>();
template MixerKind<double> mamba2_mixer<double>();

}  // namespace nudge
