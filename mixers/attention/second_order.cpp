// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "mixers/attention/gradient_descent.hpp"
#include "mixers/attention/heads.hpp"
#include "mixers/mixer.hpp"
#include "mixers/ops/operations.hpp"
#include "mixers/ops/softmax.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

MixerKeys first_order_keys(const MixerOptions& made) { return head_width_key(made) + rope_key(made); }

MixerKeys newton_keys(const MixerOptions& made) {
  return first_order_keys(made) + keys_of(descent_section(), {&DescentOptions::temperature, &DescentOptions::eta});
}

MixerKeys light_keys(const MixerOptions& made) {
  return newton_keys(made) + keys_of(descent_section(), {&DescentOptions::ridge});
}

/// Covariance of the attended k under p, applied to r: Σ_i p_i ((k_i − k̄)·r) k_i. Three products, no T·dh² array.
template <class S>
Value<S> covariance_product(Value<S> p, Value<S> k, Value<S> mean, Value<S> r) {
  const Value<S> along = product_nt(r, k) - row_sum(mean * r);
  return product(p * along, k);
}

template <class S>
struct Heads {
  Value<S> q, k;
  Index count, width;
  Heads(const MixerCall<S>& call, Value<S> z) : Heads(call, z, z) {}
  Heads(const MixerCall<S>& call, Value<S> z, Value<S> context)
      : q(with_positions(product_nt(z, call.parameters["Wq"]), call.options, call.options.heads)),
        k(with_positions(product_nt(context, call.parameters["Wk"]), call.options, call.options.heads)),
        count(call.options.heads),
        width(q.cols() / count) {}
  Value<S> query(Index h) const { return columns(q, h * width, width); }
  Value<S> key(Index h) const { return columns(k, h * width, width); }
};

MixerSpec second_order_spec(const MixerOptions& o) {
  require_positive("temperature", o.of<DescentOptions>().temperature);
  if (o.of<AttentionOptions>().head_width > o.width)
    throw UserError("head_width: Wq needs full row rank, so at most the state's width");
  return state_to_state(o, {head_projection("Wq", o), head_projection("Wk", o)});
}

/// Newton update z − (η/H) Σ_h M_h C_h⁻¹ (q_h − k̄_h).
template <class S>
void second_order(MixerCall<S>& call) {
  const MixerOptions& o = call.options;
  const Value<S> z = call.inputs["z"];
  const Heads<S> heads(call, z);
  Value<S> energy;
  const Value<S> step = sum_over_heads<S>(heads.count, [&](Index h) {
    const Value<S> q = heads.query(h);
    const Value<S> k = heads.key(h);
    const Value<S> scores = affine(squared_distance(q, k), -0.5 / o.of<DescentOptions>().temperature);
    if (o.observe)
      add_free_energy(energy, scores, o.of<DescentOptions>().temperature / static_cast<double>(heads.count), call.mask);
    const Value<S> p = softmax(scores, call.mask);
    const Value<S> newton = covariance_solve(p, k, q - product(p, k), 1.0, -1.0 / o.of<DescentOptions>().temperature);
    const Value<S> w = head(call.parameters["Wq"], h, heads.count);
    return product(newton, solve(product_nt(w, w), w));  // x ↦ M x by rows, M = Wqᵀ (Wq Wqᵀ)⁻¹
  });
  if (o.observe) call.observed.add("energy", energy);
  call.outputs = {z + affine(step, -o.of<DescentOptions>().eta / static_cast<double>(heads.count))};
}

/// Energy whose Newton step second_order() is.
template <class S>
Value<S> second_order_energy(const MixerCall<S>& call) {
  const MixerOptions& o = call.options;
  const Heads<S> heads(call, call.inputs["z"], call.inputs["context"]);
  Value<S> energy;
  for (Index h = 0; h < heads.count; ++h) {
    const Value<S> scores =
        affine(squared_distance(heads.query(h), heads.key(h)), -0.5 / o.of<DescentOptions>().temperature);
    add_free_energy(energy, scores, o.of<DescentOptions>().temperature / static_cast<double>(heads.count), call.mask);
  }
  return energy;
}

MixerSpec first_order_spec(const MixerOptions& o) {
  MixerSpec spec = state_to_state(o, {head_projection("Wq", o), head_projection("Wk", o), head_output("Wo", o)});
  // T starts at √(2 dh) (the paper's b_h is then 0.01 of it: see below).
  spec.parameters.push_back(
      {"Tp", {o.heads}, std::sqrt(2.0 * static_cast<double>(o.of<AttentionOptions>().head_width))});
  spec.parameters.push_back({"taub", {o.heads}, 0.01});
  return spec;
}

/// Newton update to first order, Σ_h Wo_h (Wv_h M_h) (r + τ_h Cov r), r = q − k̄.
template <class S, bool with_values>
void first_order(MixerCall<S>& call) {
  const Value<S> z = call.inputs["z"];
  const Heads<S> heads(call, z);
  const Value<S> temperature = call.parameters["Tp"];
  for (Index n = 0; n < temperature.cols(); ++n) {
    require_positive("Tp", static_cast<double>(temperature.matrix()(0, n)));
  }
  Value<S> energy;
  const Value<S> update = sum_over_heads<S>(heads.count, [&](Index h) {
    const Value<S> k = heads.key(h);
    const Value<S> temperature_h = columns(temperature, h, 1);
    const Value<S> scores = affine(squared_distance(heads.query(h), k), -0.5) / temperature_h;
    if (call.options.observe) {
      add_free_energy(energy, scores, affine(temperature_h, 1.0 / static_cast<double>(heads.count)), call.mask);
    }
    const Value<S> p = softmax(scores, call.mask);
    const Value<S> mean = product(p, k);
    const Value<S> r = heads.query(h) - mean;
    Value<S> x = r + covariance_product(p, k, mean, r) * columns(call.parameters["taub"], h, 1);
    if constexpr (with_values) {
      const Value<S> w = head(call.parameters["Wq"], h, heads.count);
      x = product(x, solve(product_nt(w, w), w));
      x = product_nt(x, head(call.parameters["Wv"], h, heads.count));
    }
    return product_nt(x, head(call.parameters["Wo"], h, heads.count));
  });
  if (call.options.observe) call.observed.add("energy", energy);
  call.outputs = {z + update};
}

}  // namespace

/// mha2nd: per head the Newton step on its elastic free energy (Ren et al., "Transformers as Intrinsic Optimizers", eqs. 29–31),
///     y = z − (η/H) Σ_h M_h C_h⁻¹ (q_h − k̄_h),  C = I − Cov_p(k)/T,  M = Wqᵀ(Wq Wqᵀ)⁻¹,  p_i ∝ exp(−‖q − k_i‖²/2T).
/// The paper prints a plus sign: −Hess⁺ grad is this minus. C is indefinite where Cov has an eigenvalue above T; no
/// damping. The step per head is Newton's on the mean over heads only up to a factor H, and only where the heads' row spaces are
/// orthogonal. Options: width, heads, head_width, temperature, eta. Observed, here and below: "energy" (tokens, 1), the free
/// energy of the pairs whose softmax p is.
template <class S>
MixerKind<S> mha2nd_mixer() {
  return reading<S>({"mha2nd", "Newton step per head", second_order_spec, second_order<S>, second_order_energy<S>},
                    newton_keys, fit_heads);
}

/// mha2nd1st: y = z + Σ_h Wo_h Wv_h M_h (r + τ_h Cov_p(k) r), r = q − k̄, p_i ∝ exp(−‖q − k_i‖²/2T_h): the Newton
/// step's inverse to first order. T_h = Tp is learned and starts at √(2dh); τ_h = taub stands for the paper's 1/T_b and
/// starts at 0.01 (appendix A.7; the main text's "similar way" would be √(2dh) for T_b). mha2nd1st_nov leaves out Wv_h
/// M_h. Options: width, heads, head_width.
template <class S>
MixerKind<S> mha2nd1st_mixer() {
  return reading<S>({"mha2nd1st", "Newton step per head to first order",
                     [](const MixerOptions& o) {
                       MixerSpec spec = first_order_spec(o);
                       spec.parameters.push_back(head_projection("Wv", o));
                       return spec;
                     },
                     first_order<S, true>},
                    first_order_keys, fit_heads);
}
template <class S>
MixerKind<S> mha2nd1st_nov_mixer() {
  return reading<S>(
      {"mha2nd1st_nov", "Newton step per head to first order, without values", first_order_spec, first_order<S, false>},
      first_order_keys, fit_heads);
}

namespace {

template <class S>
MixerSpec light_spec(const MixerOptions& o) {
  return state_to_state(
      o, {head_projection("Wq", o), head_projection("Wk", o), head_projection("Wv", o), head_output("Wo", o)});
}

/// Update z + scale Σ_h Wo_h f(h, p, v, v̄) with the inner-product prior p = softmax(q·k/temperature).
template <class S, class F>
void light(MixerCall<S>& call, double temperature, double scale, F f) {
  const Value<S> z = call.inputs["z"];
  const Heads<S> heads(call, z);
  const Value<S> values = product_nt(z, call.parameters["Wv"]);
  Value<S> energy;
  const Value<S> update = sum_over_heads<S>(heads.count, [&](Index h) {
    const Value<S> scores = affine(product_nt(heads.query(h), heads.key(h)), 1.0 / temperature);
    if (call.options.observe) {
      add_free_energy(energy, scores, temperature / static_cast<double>(heads.count), call.mask);
    }
    const Value<S> p = softmax(scores, call.mask);
    const Value<S> v = columns(values, h * heads.width, heads.width);
    return product_nt(f(h, p, v, product(p, v)), head(call.parameters["Wo"], h, heads.count));
  });
  if (call.options.observe) call.observed.add("energy", energy);
  call.outputs = {z + (scale == 1.0 ? update : affine(update, scale))};
}

}  // namespace

/// light2nd: y = z − η/(HT) Σ_h Wo_h (εI + Cov_p(v))⁻¹ v̄, p = softmax(q·k/T). The prefactor follows the paper's
/// display; Newton would give ηT/H (Hess = −Cov/T), which Wo absorbs. Options: width, heads, head_width, temperature,
/// eta, ridge.
template <class S>
MixerKind<S> light2nd_mixer() {
  return reading<S>(
      {"light2nd", "preconditioned attention, ridge inverse",
       [](const MixerOptions& o) {
         require_positive("temperature", o.of<DescentOptions>().temperature);
         require_positive("ridge", o.of<DescentOptions>().ridge);
         return light_spec<S>(o);
       },
       [](MixerCall<S>& call) {
         const MixerOptions& o = call.options;
         light(call, o.of<DescentOptions>().temperature,
               -o.of<DescentOptions>().eta / (static_cast<double>(o.heads) * o.of<DescentOptions>().temperature),
               [&](Index, Value<S> p, Value<S> v, Value<S> mean) {
                 return covariance_solve(p, v, mean, o.of<DescentOptions>().ridge, 1.0);
               });
       }},
      light_keys, fit_heads);
}

/// light2nd1st: y = z + Σ_h Wo_h (v̄ + τ_h Cov_p(v) v̄), p = softmax(q·k/√dh). τ_h = tau is learned and starts at 0.01;
/// the ridge inverse to first order would be −1/ε, so this turns the sign of the correction, as printed. τ = 0 is mha.
/// Options: width, heads, head_width, rope.
template <class S>
MixerKind<S> light2nd1st_mixer() {
  return reading<S>(
      {"light2nd1st", "preconditioned attention to first order",
       [](const MixerOptions& o) {
         MixerSpec spec = light_spec<S>(o);
         spec.parameters.push_back({"tau", {o.heads}, 0.01});
         return spec;
       },
       [](MixerCall<S>& call) {
         light(call, std::sqrt(static_cast<double>(call.options.template of<AttentionOptions>().head_width)), 1.0,
               [&](Index h, Value<S> p, Value<S> v, Value<S> mean) {
                 return mean + covariance_product(p, v, mean, mean) * columns(call.parameters["tau"], h, 1);
               });
       }},
      first_order_keys, fit_heads);
}

#define NUDGE_SECOND_ORDER(S)                     \
  template MixerKind<S> mha2nd_mixer<S>();        \
  template MixerKind<S> mha2nd1st_mixer<S>();     \
  template MixerKind<S> mha2nd1st_nov_mixer<S>(); \
  template MixerKind<S> light2nd_mixer<S>();      \
  template MixerKind<S> light2nd1st_mixer<S>();
NUDGE_BOTH_PRECISIONS(NUDGE_SECOND_ORDER)

}  // namespace nudge
