// SPDX-License-Identifier: Apache-2.0
#include "mixers/attention/gradient_descent.hpp"

#include <fmt/format.h>

#include "mixers/attention/heads.hpp"
#include "mixers/ops/softmax.hpp"

namespace nudge {

const Section<DescentOptions>& descent_section() {
  using param::real;
  static const std::string optimizers = "Ren et al., Transformers as Intrinsic Optimizers";
  static const Section<DescentOptions> section = {
      field(real("mixer.temperature", "1", above(0), "T of gd_*, loop_*, mha2nd and light2nd.", optimizers),
            &DescentOptions::temperature),
      field(real("mixer.eta", "0.5", any_number(), "Step size of gd_*, loop_*, mha2nd and light2nd."),
            &DescentOptions::eta),
      field(real("mixer.ridge", "0.1", above(0), "Ridge of light2nd."), &DescentOptions::ridge),
      field(param::flag("mixer.refresh", "true",
                        "loop_*: true: the attended tokens move too. false: they stay at their start."),
            &DescentOptions::refresh)};
  return section;
}

namespace {

MixerKeys step_keys(const MixerOptions& made) {
  return head_width_key(made) + keys_of(descent_section(), {&DescentOptions::temperature, &DescentOptions::eta});
}

MixerKeys loop_keys(const MixerOptions& made) {
  return step_keys(made) + keys_of(descent_section(), {&DescentOptions::refresh});
}

/// Scores −E/T of every pair of a head.
template <class S>
Value<S> pair_scores(PairEnergy kind, Value<S> a, Value<S> b, double temperature) {
  return kind == PairEnergy::elastic ? affine(squared_distance(a, b), -0.5 / temperature)
                                     : affine(product_nt(a, b), 1.0 / temperature);
}

}  // namespace

template <class S>
EnergyStep<S> energy_step(PairEnergy kind, Value<S> z, Value<S> context, Value<S> w1, Value<S> w2,
                          const MixerOptions& options, const Mask& mask) {
  const Index heads = options.heads;
  const double temperature = options.of<DescentOptions>().temperature;
  const Value<S> a = product_nt(z, w1);
  const Value<S> b = product_nt(context, w2);
  const Index m = a.cols() / heads;
  std::vector<Value<S>> drives;
  Value<S> energy;
  for (Index h = 0; h < heads; ++h) {
    const Value<S> a_h = columns(a, h * m, m);
    const Value<S> b_h = columns(b, h * m, m);
    const Value<S> scores = pair_scores(kind, a_h, b_h, temperature);
    const Value<S> drive = product(softmax(scores, mask), b_h);
    drives.push_back(kind == PairEnergy::elastic ? drive - a_h : drive);
    add_free_energy(energy, scores, temperature / static_cast<double>(heads), mask);
  }
  const Value<S> step =
      affine(product(join_columns(drives), w1), options.of<DescentOptions>().eta / static_cast<double>(heads));
  return {z + step, energy};
}

namespace {

MixerSpec energy_spec(const MixerOptions& o) {
  require_positive("temperature", o.of<DescentOptions>().temperature);
  require_at_least("iterations", o.iterations, 1);
  return state_to_state(o, {head_projection("W1", o), head_projection("W2", o)});
}

/// Repeats the step `iterations` times. Observed: "energy" (tokens, 1) at the start; in a loop also "energy_<k>" before iteration k + 1.
template <class S, PairEnergy kind>
void loop(MixerCall<S>& call, int iterations) {
  const Value<S> start = call.inputs["z"];
  Value<S> z = start;
  for (int k = 0; k < iterations; ++k) {
    const auto step = energy_step(kind, z, call.options.template of<DescentOptions>().refresh ? z : start,
                                  call.parameters["W1"], call.parameters["W2"], call.options, call.mask);
    if (call.options.observe) call.observed.add(k == 0 ? "energy" : fmt::format("energy_{}", k), step.energy);
    z = step.z;
  }
  call.outputs = {z};
}

template <class S, PairEnergy kind>
void once(MixerCall<S>& call) {
  loop<S, kind>(call, 1);
}
template <class S, PairEnergy kind>
void repeated(MixerCall<S>& call) {
  loop<S, kind>(call, call.options.iterations);
}

template <class S, PairEnergy kind>
Value<S> energy_against(const MixerCall<S>& call, Value<S> context) {
  const MixerOptions& o = call.options;
  const Value<S> a = product_nt(call.inputs["z"], call.parameters["W1"]);
  const Value<S> b = product_nt(context, call.parameters["W2"]);
  const Index m = a.cols() / o.heads;
  Value<S> energy;
  for (Index h = 0; h < o.heads; ++h) {
    const Value<S> scores =
        pair_scores(kind, columns(a, h * m, m), columns(b, h * m, m), o.of<DescentOptions>().temperature);
    add_free_energy(energy, scores, o.of<DescentOptions>().temperature / static_cast<double>(o.heads), call.mask);
  }
  return energy;
}

template <class S, PairEnergy kind>
Value<S> energy_once(const MixerCall<S>& call) {
  return energy_against<S, kind>(call, call.inputs["context"]);
}
/// Energy of a repeated step. In Algorithm 3 (refresh) the attended tokens have moved along: they are the state itself.
template <class S, PairEnergy kind>
Value<S> energy_repeated(const MixerCall<S>& call) {
  return energy_against<S, kind>(call,
                                 call.inputs[call.options.template of<DescentOptions>().refresh ? "z" : "context"]);
}

}  // namespace

/// gd_elastic, gd_inner: one step of energy_step() with the state as its own context. loop_*: `iterations` of these steps,
/// the context moving along (refresh, Algorithm 2 of appendix A.1) or staying at the start. Only with a context that stays
/// does each step lower the energy for sure (inner: any η > 0, because the energy is concave; elastic: η ≤ 2/‖mean W1ᵀW1‖).
/// Options: width, heads, head_width, temperature, eta, iterations, refresh.
template <class S>
MixerKind<S> gd_elastic_mixer() {
  return reading<S>({"gd_elastic", "gradient step on the free energy of elastic pairs", energy_spec,
                     once<S, PairEnergy::elastic>, energy_once<S, PairEnergy::elastic>},
                    step_keys, fit_heads);
}
template <class S>
MixerKind<S> gd_inner_mixer() {
  return reading<S>({"gd_inner", "gradient step on the free energy of inner products", energy_spec,
                     once<S, PairEnergy::inner>, energy_once<S, PairEnergy::inner>},
                    step_keys, fit_heads);
}
template <class S>
MixerKind<S> loop_elastic_mixer() {
  return reading<S>({"loop_elastic", "repeated gradient steps, elastic pairs", energy_spec,
                     repeated<S, PairEnergy::elastic>, energy_repeated<S, PairEnergy::elastic>},
                    loop_keys, fit_heads);
}
template <class S>
MixerKind<S> loop_inner_mixer() {
  return reading<S>({"loop_inner", "repeated gradient steps, inner products", energy_spec,
                     repeated<S, PairEnergy::inner>, energy_repeated<S, PairEnergy::inner>},
                    loop_keys, fit_heads);
}

#define NUDGE_GRADIENT_DESCENT(S)                                                                                \
  template EnergyStep<S> energy_step<S>(PairEnergy, Value<S>, Value<S>, Value<S>, Value<S>, const MixerOptions&, \
                                        const Mask&);                                                            \
  template MixerKind<S> gd_elastic_mixer<S>();                                                                   \
  template MixerKind<S> gd_inner_mixer<S>();                                                                     \
  template MixerKind<S> loop_elastic_mixer<S>();                                                                 \
  template MixerKind<S> loop_inner_mixer<S>();
NUDGE_BOTH_PRECISIONS(NUDGE_GRADIENT_DESCENT)

}  // namespace nudge
