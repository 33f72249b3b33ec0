// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mixers/mixer.hpp"

namespace nudge {

/// The time-decay conditioner of the Free Energy Mixer (Lu & Yang, "Free Energy Mixer", appendix I), x (T, D) to (T, out):
///     x̂ = LN(x), s = softplus(x̂ Wf), u = x̂ Wx, a = softplus(x̂ Ws), h̃_t = e^{−s_t} h̃_{t−1} + u_t
///     out = (silu(κ a/√(Σa² + 1e-12)) ∘ LN(h̃)) Wc
/// both LN with scale and shift, ε = 1e-5 (the paper leaves them open); κ = 1 is the paper, √Hc the published code,
/// which also leaves out silu. Parameters tdc_ln1_w, tdc_ln1_b (D), tdc_Wf, tdc_Wx, tdc_Ws (D, Hc), tdc_ln2_w,
/// tdc_ln2_b (Hc), tdc_Wc (Hc, out).
std::vector<Field> conditioner_fields(Index width, Index hidden, Index outputs);
template <class S>
Value<S> conditioner(Value<S> x, const MixerCall<S>& call, Value<S>* hidden_state = nullptr);

}  // namespace nudge
