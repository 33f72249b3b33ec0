// SPDX-License-Identifier: Apache-2.0
#include "mixers/attention/heads.hpp"
#include "mixers/ops/operations.hpp"

namespace nudge {

/// mha: y = z + Σ_h Wo_h Σ_i softmax_i(q_h·k_i/√dh) v_i over the attended tokens, the token itself included (Ren et al., "Transformers as Intrinsic Optimizers",
/// eq. 13; its footnote 1 leaves the token out). Options: width, heads, head_width, key_value_heads, rope. Observed: "update" = y − z and
/// "energy" (attention_update).
template <class S>
MixerKind<S> mha_mixer() {
  return reading<S>({"mha", "multi-head softmax attention with residual",
                     [](const MixerOptions& o) {
                       return state_to_state(o, {head_projection("Wq", o), shared_projection("Wk", o),
                                                 shared_projection("Wv", o), head_output("Wo", o)});
                     },
                     [](MixerCall<S>& call) {
                       const Value<S> z = call.inputs["z"];
                       Value<S> energy;
                       const Value<S> update = attention_update(z, call.parameters, "", call.options, call.mask,
                                                                call.options.observe ? &energy : nullptr);
                       if (call.options.observe) {
                         call.observed.add("update", update);
                         call.observed.add("energy", energy);
                       }
                       call.outputs = {z + update};
                     }},
                    attention_keys, fit_heads);
}

template MixerKind<float> mha_mixer<float>();
template MixerKind<double> mha_mixer<double>();

}  // namespace nudge
