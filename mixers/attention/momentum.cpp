// SPDX-License-Identifier: Apache-2.0
#include "mixers/attention/gradient_descent.hpp"

#include <fmt/format.h>

#include <cmath>

#include "mixers/attention/heads.hpp"

namespace nudge {

const Section<MomentumOptions>& momentum_section() {
  static const Section<MomentumOptions> section = {
      field(param::real("mixer.momentum_start", "0.9", from_below(0, 1),
                        "beta of momen, nag and *_stack before learning.",
                        "Ren et al., Transformers as Intrinsic Optimizers, section 3.1"),
            &MomentumOptions::momentum_start),
      field(param::integer("mixer.layers", "2", between(1, 64), "Layers of *_stack."), &MomentumOptions::layers)};
  return section;
}

namespace {

MixerKeys momentum_keys(const MixerOptions& made) {
  return attention_keys(made) + keys_of(momentum_section(), {&MomentumOptions::momentum_start});
}

MixerKeys stack_keys(const MixerOptions& made) {
  return momentum_keys(made) + keys_of(momentum_section(), {&MomentumOptions::layers});
}

std::vector<Field> attention_fields(const MixerOptions& o, const std::string& prefix) {
  return {head_projection(prefix + "Wq", o), shared_projection(prefix + "Wk", o), shared_projection(prefix + "Wv", o),
          head_output(prefix + "Wo", o)};
}

MixerSpec momentum_spec(const MixerOptions& o) {
  MixerSpec spec{{{"z", {-1, o.width}}, {"p", {-1, o.width}}},
                 attention_fields(o, ""),
                 {{"z", {-1, o.width}}, {"p", {-1, o.width}}}};
  spec.residual = true;
  spec.parameters.push_back({"beta", {}, o.of<MomentumOptions>().momentum_start});
  spec.parameters.push_back({"eta", {}, 1.0});
  return spec;
}

template <class S, LookAhead look_ahead>
void momentum(MixerCall<S>& call) {
  const auto moved = momentum_step(
      look_ahead, MomentumState<S>{call.inputs["z"], call.inputs["p"]}, call.parameters["beta"], call.parameters["eta"],
      [&](Value<S> z) { return attention_update(z, call.parameters, "", call.options, call.mask); });
  call.outputs = {moved.z, moved.p};
}

MixerSpec stack_spec(const MixerOptions& o) {
  require_at_least("layers", o.of<MomentumOptions>().layers, 1);
  MixerSpec spec{{{"z", {-1, o.width}}}, {}, {{"z", {-1, o.width}}, {"p", {-1, o.width}}}};
  spec.residual = true;
  const Index inner = 4 * o.width;
  const double first = 1.0 / std::sqrt(static_cast<double>(o.width));
  for (int l = 0; l < o.of<MomentumOptions>().layers; ++l) {
    const std::string prefix = fmt::format("l{}_", l);
    for (Field& field : attention_fields(o, prefix)) spec.parameters.push_back(std::move(field));
    spec.parameters.push_back({prefix + "W1", {o.width, inner}, 0, first});
    spec.parameters.push_back({prefix + "W2", {inner, o.width}, 0, first / 2});
    spec.parameters.push_back({prefix + "b1", {inner}});
    spec.parameters.push_back({prefix + "b2", {o.width}});
    spec.parameters.push_back({prefix + "beta", {2}, o.of<MomentumOptions>().momentum_start});
    spec.parameters.push_back({prefix + "eta", {2}, 1.0});
  }
  return spec;
}

template <class S, LookAhead look_ahead>
void stack(MixerCall<S>& call) {
  const Value<S> z = call.inputs["z"];
  MomentumState<S> at{z, z.tape->constant(Matrix<S>::Zero(z.rows(), z.cols()))};
  for (int l = 0; l < call.options.template of<MomentumOptions>().layers; ++l) {
    const std::string prefix = fmt::format("l{}_", l);
    const auto parameter = [&](const char* name) { return call.parameters[prefix + name]; };
    const auto attention = [&](Value<S> x) {
      return attention_update(layer_norm(x), call.parameters, prefix, call.options, call.mask);
    };
    const auto feed_forward = [&](Value<S> x) {
      const Value<S> inner = apply(Function::gelu, product(layer_norm(x), parameter("W1")) + parameter("b1"));
      return product(inner, parameter("W2")) + parameter("b2");
    };
    const Value<S> beta = parameter("beta");
    const Value<S> eta = parameter("eta");
    at = momentum_step(look_ahead, at, columns(beta, 0, 1), columns(eta, 0, 1), attention);
    at = momentum_step(look_ahead, at, columns(beta, 1, 1), columns(eta, 1, 1), feed_forward);
  }
  call.outputs = {at.z, at.p};
}

}  // namespace

/// momen, nag, nag_sutskever: attention as a step with momentum (Ren et al., "Transformers as Intrinsic Optimizers", eqs. 9 and 10), on inputs z and p, giving
/// both:
///     p' = β p − U(z_look), z' = z − η p'      U = mha's update, no norm
/// with z_look = z (momen), z − β p (nag, as printed) or z − ηβ p (nag_sutskever: the point that z' would reach without
/// U; the two agree for η = 1, where training starts). β and η are learned numbers. Options: width, heads, head_width.
///
/// momen_stack, nag_stack: `layers` layers of such steps, attention then feed-forward, each sub-layer with its own β
/// and η (beta, eta (2)); p starts at 0 and passes through all of them. U(z) = attention(LN z) or gelu(LN z W1 + b1) W2
/// + b2, LN without scale: the paper leaves the place of the norm open, this is pre-norm inside U.
template <class S>
MixerKind<S> momen_mixer() {
  return reading<S>({"momen", "attention with momentum", momentum_spec, momentum<S, LookAhead::none>}, momentum_keys,
                    fit_heads);
}
template <class S>
MixerKind<S> nag_mixer() {
  return reading<S>(
      {"nag", "attention with Nesterov momentum as printed", momentum_spec, momentum<S, LookAhead::paper>},
      momentum_keys, fit_heads);
}
template <class S>
MixerKind<S> nag_sutskever_mixer() {
  return reading<S>({"nag_sutskever", "attention with Nesterov momentum, consistent look-ahead", momentum_spec,
                     momentum<S, LookAhead::sutskever>},
                    momentum_keys, fit_heads);
}
template <class S>
MixerKind<S> momen_stack_mixer() {
  return reading<S>(
      {"momen_stack", "layers of attention and feed-forward with momentum", stack_spec, stack<S, LookAhead::none>},
      stack_keys, fit_heads);
}
template <class S>
MixerKind<S> nag_stack_mixer() {
  return reading<S>({"nag_stack", "layers of attention and feed-forward with Nesterov momentum", stack_spec,
                     stack<S, LookAhead::paper>},
                    stack_keys, fit_heads);
}

#define NUDGE_MOMENTUM(S)                         \
  template MixerKind<S> momen_mixer<S>();         \
  template MixerKind<S> nag_mixer<S>();           \
  template MixerKind<S> nag_sutskever_mixer<S>(); \
  template MixerKind<S> momen_stack_mixer<S>();   \
  template MixerKind<S> nag_stack_mixer<S>();
NUDGE_BOTH_PRECISIONS(NUDGE_MOMENTUM)

}  // namespace nudge
