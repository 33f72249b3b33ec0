// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mixers/mixer.hpp"

namespace nudge {

/// Sizes of the single layer for the channel-wise argmax task (Lu & Yang, "Free Energy Mixer", appendix P).
struct ArgmaxShape {
  Index tokens = 128;
  Index width = 512;
  Index heads = 4;  ///< number of heads; must divide the width
  bool free_energy = true;
};

/// Parameters of the layer: Wq, Wk (D, D), and for the free energy Wl (D, D), bl, xb (D): normal numbers of 0.02,
/// biases zero.
std::vector<Field> argmax_fields(const ArgmaxShape& shape);

/// Reads the value of each channel by the last token, (1, D); v (T, D) are the raw values. x = v_T, q = x Wq, k = v Wk,
/// p = softmax(q·k/√(D/H)) per head over all tokens, channel c in head c // (D/H):
///     softmax: y = μ          free energy: y = (1 − λ) μ + λ F, λ = sigmoid(x Wl + bl), β = softplus(xb + 1.8)
/// There is no outer gate, no conditioner, no value or output projections. UserError naming `beta_name` where a β
/// underflows.
template <class S>
Value<S> argmax_read(const ArgmaxShape& shape, Value<S> v, const NamedValues<S>& parameters,
                     const std::string& beta_name);

/// Squared error Σ_c (prediction − max_t v_tc)² · scale, (1, 1).
template <class S>
Value<S> argmax_error(Value<S> prediction, Value<S> largest, double scale);

}  // namespace nudge
