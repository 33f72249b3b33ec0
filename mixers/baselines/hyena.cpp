// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "mixers/baselines/short_convolution.hpp"
#include "mixers/mixer.hpp"
#include "mixers/ops/operations.hpp"

namespace nudge {
namespace {

constexpr Index kTaps = 3, kBands = 4, kFeatures = 2 * kBands + 1, kHidden = 16;
constexpr double kPi = 3.14159265358979323846;

MixerSpec hyena_spec(const MixerOptions& o) {
  require_at_least("width", o.width, 1);
  const Index c = o.width;
  return causal_update(c, {dense("Win", c, 3 * c),
                           taps("c", kTaps, 3 * c),
                           dense("F1", kFeatures, kHidden),
                           {"f1", {kHidden}, 0, 0.1},
                           dense("F2", kHidden, kHidden),
                           {"f2", {kHidden}, 0, 0.1},
                           dense("F3", kHidden, c),
                           {"D", {c}, 0, 1.0},
                           dense("Wout", c, c)});
}

/// Features (t/T, cos 2π f t/T, sin 2π f t/T for f = 1 … bands) of each lag t.
template <class S>
Matrix<S> lag_features(Index tokens) {
  Matrix<S> all(tokens, kFeatures);
  for (Index t = 0; t < tokens; ++t) {
    const double at = static_cast<double>(t) / static_cast<double>(tokens);
    all(t, 0) = static_cast<S>(at);
    for (Index b = 0; b < kBands; ++b) {
      const double angle = 2 * kPi * static_cast<double>(b + 1) * at;
      all(t, 1 + 2 * b) = static_cast<S>(std::cos(angle));
      all(t, 2 + 2 * b) = static_cast<S>(std::sin(angle));
    }
  }
  return all;
}

/// Windows e^{−α_c t/T}, α from ln 100/1.5 to ln 100/0.3 over the channels: each forgets to 1 % within 1.5 to 0.3 sequences.
template <class S>
Matrix<S> windows(Index tokens, Index channels) {
  Matrix<S> all(tokens, channels);
  const double slow = std::log(100.0) / 1.5, fast = std::log(100.0) / 0.3;
  for (Index t = 0; t < tokens; ++t) {
    for (Index c = 0; c < channels; ++c) {
      const double place = channels > 1 ? static_cast<double>(c) / static_cast<double>(channels - 1) : 0.0;
      all(t, c) = static_cast<S>(
          std::exp(-(slow + (fast - slow) * place) * static_cast<double>(t) / static_cast<double>(tokens)));
    }
  }
  return all;
}

template <class S>
void hyena(MixerCall<S>& call) {
  const Value<S> z = call.inputs["z"];
  const auto& p = call.parameters;
  const Index c = call.options.width, tokens = z.rows();
  Tape<S>& tape = *z.tape;
  const Value<S> all = causal_convolution(product(z, p["Win"]), p["c"]);
  const Value<S> inner = columns(all, 2 * c, c) * columns(all, c, c);
  Value<S> hidden = apply(Function::sine, product(tape.constant(lag_features<S>(tokens)), p["F1"]) + p["f1"]);
  hidden = apply(Function::sine, product(hidden, p["F2"]) + p["f2"]);
  const Value<S> filter = product(hidden, p["F3"]) * tape.constant(windows<S>(tokens, c));
  call.outputs = {product(columns(all, 0, c) * (causal_convolution(inner, filter) + inner * p["D"]), p["Wout"])};
}

}  // namespace

/// hyena (Poli et al., arXiv:2302.10866, order 2): x₀ | x₁ | v = conv₃(z W_in), u = x₀ ∘ (h ∗ (x₁ ∘ v) + D ∘ x₁ ∘ v) W_out with a filter as long
/// as the sequence, h = (an MLP with sines of the lag) ∘ e^{−α t}. The lag is in units of the sequence's length; the
/// MLP has 16 hidden units (published: 64). Options: width.
template <class S>
MixerKind<S> hyena_mixer() {
  return {"hyena", "long gated convolutions with implicit filters", hyena_spec, hyena<S>};
}

template MixerKind<float> hyena_mixer<float>();
template MixerKind<double> hyena_mixer<double>();

}  // namespace nudge
