// SPDX-License-Identifier: Apache-2.0
#include "mixers/fem/free_energy_mixer.hpp"

#include <cmath>

#include "mixers/ops/operations.hpp"

namespace nudge {

std::vector<Field> conditioner_fields(Index width, Index hidden, Index outputs) {
  require_at_least("hidden", hidden, 1);
  constexpr double deviation = 0.02;  // the published code's; the paper's zeros would make the conditioner dead
  return {{"tdc_ln1_w", {width}, 1},
          {"tdc_ln1_b", {width}},
          {"tdc_Wf", {width, hidden}, 0, deviation},
          {"tdc_Wx", {width, hidden}, 0, deviation},
          {"tdc_Ws", {width, hidden}, 0, deviation},
          {"tdc_ln2_w", {hidden}, 1},
          {"tdc_ln2_b", {hidden}},
          {"tdc_Wc", {hidden, outputs}, 0, deviation}};
}

template <class S>
Value<S> conditioner(Value<S> x, const MixerCall<S>& call, Value<S>* hidden_state) {
  const auto& p = call.parameters;
  const Value<S> normed = layer_norm(x) * p["tdc_ln1_w"] + p["tdc_ln1_b"];
  const Value<S> decay = affine(apply(Function::softplus, product(normed, p["tdc_Wf"])), -1.0);
  const Value<S> hidden =
      decayed_sum(decay, product(normed, p["tdc_Wx"]), call.streams != nullptr ? &call.streams->conditioner : nullptr);
  const Value<S> a = apply(Function::softplus, product(normed, p["tdc_Ws"]));
  // κ a/√(Σa² + ε) = κ/√n · a/√(mean a² + ε/n)
  const auto n = static_cast<double>(a.cols());
  const Value<S> unit =
      affine(rms_norm(a, 1, 1e-12 / n), call.options.template of<FreeEnergyOptions>().hidden_scale / std::sqrt(n));
  if (hidden_state != nullptr) *hidden_state = hidden;
  const Value<S> state = layer_norm(hidden) * p["tdc_ln2_w"] + p["tdc_ln2_b"];
  return product(apply(Function::silu, unit) * state, p["tdc_Wc"]);
}

/// tdc: the time-decay conditioner alone, x (tokens, width) to y (tokens, conditioned). Options: width, hidden,
/// hidden_scale, conditioned. Observed: "htilde". Streams.
template <class S>
MixerKind<S> tdc_mixer() {
  return {"tdc", "time-decay conditioner",
          [](const MixerOptions& o) {
            return MixerSpec{
                {{"x", {-1, o.width}}},
                conditioner_fields(o.width, o.of<FreeEnergyOptions>().hidden, o.of<FreeEnergyOptions>().conditioned),
                {{"y", {-1, o.of<FreeEnergyOptions>().conditioned}}},
                false};
          },
          [](MixerCall<S>& call) {
            Value<S> hidden;
            call.outputs = {conditioner(call.inputs["x"], call, &hidden)};
            if (call.options.observe) call.observed.add("htilde", hidden);
          }};
}

#define NUDGE_CONDITIONER(S)                                                  \
  template Value<S> conditioner<S>(Value<S>, const MixerCall<S>&, Value<S>*); \
  template MixerKind<S> tdc_mixer<S>();
NUDGE_BOTH_PRECISIONS(NUDGE_CONDITIONER)

}  // namespace nudge
