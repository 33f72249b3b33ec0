// SPDX-License-Identifier: Apache-2.0
#include "mixers/fem/free_energy_mixer.hpp"

#include <fmt/format.h>

#include <cmath>

#include "mixers/ops/operations.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
Value<S> inverse_temperature(Value<S> raw, const std::string& name) {
  const Value<S> beta = apply(Function::softplus, affine(raw, 1.0, 1.8));
  for (Index c = 0; c < beta.cols(); ++c) {
    if (!(beta.matrix()(0, c) > S(0))) {
      throw UserError(fmt::format("{}: element {} = {} makes β = softplus(element + 1.8) = 0 (β must be positive)",
                                  name, c, raw.matrix()(0, c)));
    }
  }
  return beta;
}

template <class S>
Value<S> outer_gate(Value<S> g_raw, Index groups) {
  return rms_norm(apply(Function::softplus, g_raw), groups);
}

template <class S>
Value<S> gated_read(const Branches<S>& branches, const Value<S>* lambda, const Value<S>* gate) {
  Value<S> read = branches.free_energy;
  if (lambda != nullptr) read = branches.mean + (branches.free_energy - branches.mean) * *lambda;
  return gate != nullptr ? read * *gate : read;
}

MixerOptions free_energy_budget(Budget budget, Index width, Index heads) {
  MixerOptions o;
  o.width = width;
  o.heads = o.gate_groups = heads;
  if (budget == Budget::half) {
    require_divides("2", 2, "width", width);
    o.values = width / 2;
    o.keys = width;
  } else {
    require_divides("3", 3, "width", width);
    o.values = o.keys = 2 * width / 3;
  }
  require_divides("heads", heads, "values", o.values);
  return o;
}

namespace {

/// Modulations by the conditioner: slices of its output in the order v, q, k, decay, λ, g (those that exist).
template <class S>
class Modulations {
 public:
  Modulations(const MixerCall<S>& call, Value<S> x) : modulation_(call.options.modulation) {
    if (modulation_ != Modulation::none) all_ = conditioner(x, call);
  }
  /// Scales x ∘ (1 + η) with the next x.cols() columns as η.
  Value<S> scale(Value<S> x) {
    if (modulation_ == Modulation::none) return x;
    return x + x * next(x.cols());
  }
  Value<S> shift(Value<S> x) { return modulation_ == Modulation::none ? x : x + next(x.cols()); }
  /// Gate f(raw) with η on either side of f.
  template <class F>
  Value<S> gate(Value<S> raw, F f) {
    return modulation_ == Modulation::before ? f(scale(raw)) : scale(f(raw));
  }

 private:
  Value<S> next(Index count) {
    at_ += count;
    return columns(all_, at_ - count, count);
  }
  Modulation modulation_;
  Value<S> all_;
  Index at_ = 0;
};

struct Widths {
  Index q = 0, k = 0, decay = 0;
};

Widths widths(const MixerOptions& o, Prior prior) {
  switch (prior) {
    case Prior::softmax: return {o.keys, o.keys, 0};
    case Prior::gla: return {o.keys, o.keys, o.decays};
    case Prior::aft: return {0, o.groups, 0};
    case Prior::lrnn: return {0, 0, o.decays};
    default: return {};
  }
}

void check(const MixerOptions& o, Prior prior) {
  require_at_least("width", o.width, 1);
  require_at_least("values", o.values, 1);
  if (o.outer_gate) require_divides("gate_groups", o.gate_groups, "values", o.values);
  if (prior == Prior::softmax || prior == Prior::gla) {
    require_divides("heads", o.heads, "keys", o.keys);
    require_divides("heads", o.heads, "values", o.values);
    if ((prior == Prior::gla || o.rope) && (o.keys / o.heads) % 2 != 0) {
      throw UserError(fmt::format("keys = {}: head width {} is odd (rotary positions turn pairs: use an even width)",
                                  o.keys, o.keys / o.heads));
    }
  }
  if (prior == Prior::gla) {
    require_positive("epsilon", o.epsilon);
    if (o.decays != 0 && o.decays != o.heads && o.decays != o.keys) {
      throw UserError(
          fmt::format("decays = {} (must be one per head, {}, one per feature, {}, or 0)", o.decays, o.heads, o.keys));
    }
  }
  if (prior == Prior::aft) require_divides("groups", o.groups, "values", o.values);
  if (prior == Prior::lrnn) require_divides("decays", o.decays, "values", o.values);
  if (prior == Prior::ssm_invariant || prior == Prior::ssm_selective) require_at_least("states", o.states, 1);
}

MixerSpec fem_spec(const MixerOptions& o, Prior prior) {
  check(o, prior);
  MixerSpec spec{{{"x", {-1, o.width}}}, {}, {{"y", {-1, o.width}}}};
  spec.only_causal = prior != Prior::softmax;
  constexpr double deviation =
      0.02;  // appendix K's zeros for embeddings would make all tokens equal; biases start at 0
  const auto linear = [&](const std::string& name, Index in, Index out) {
    spec.parameters.push_back({"W_" + name, {in, out}, 0, deviation});
    spec.parameters.push_back({"b_" + name, {out}});
  };
  const Widths w = widths(o, prior);
  linear("v", o.width, o.values);
  if (w.q > 0) linear("q", o.width, w.q);
  if (w.k > 0) linear("k", o.width, w.k);
  if (w.decay > 0) linear("dec", o.width, w.decay);
  if (prior == Prior::ssm_selective) {
    linear("dt", o.width, o.values);
    linear("B", o.width, o.states);
    linear("C", o.width, o.states);
  }
  if (o.log_sum_exp && o.inner_gate) linear("lam", o.width, o.values);
  if (o.outer_gate) linear("g", o.width, o.values);
  linear("o", o.values, o.width);
  spec.parameters.push_back({"xb", {o.values}});
  if (prior == Prior::ssm_invariant || prior == Prior::ssm_selective) {
    spec.parameters.push_back({"ssm_A", {o.values, o.states}, 0, 1});
    spec.parameters.push_back({"ssm_D", {o.values}});
  }
  if (prior == Prior::ssm_invariant) {
    spec.parameters.push_back({"ssm_B", {o.values, o.states}, 0, 1});
    spec.parameters.push_back({"ssm_C", {o.values, o.states}, 0, 1});
    spec.parameters.push_back({"ssm_dt", {o.values}, 0, 1});
  }
  if (o.modulation != Modulation::none) {
    const Index gates = (o.log_sum_exp && o.inner_gate ? o.values : 0) + (o.outer_gate ? o.values : 0);
    for (Field& field : conditioner_fields(o.width, o.hidden, o.values + w.q + w.k + w.decay + gates)) {
      spec.parameters.push_back(std::move(field));
    }
  }
  return spec;
}

/// Branches of a prior from the projections of x; β as given, projections changed by `modulations`.
template <class S>
Branches<S> read_prior(Prior prior, MixerCall<S>& call, Value<S> x, Value<S> beta, Modulations<S>& modulations) {
  const MixerOptions& o = call.options;
  const auto& p = call.parameters;
  Streams<S>* streams = call.streams;
  const auto linear = [&](const std::string& name) { return product(x, p["W_" + name]) + p["b_" + name]; };
  const auto positive = [&](const std::string& name) { return apply(Function::softplus, linear(name)); };
  const auto decays = [&] { return affine(apply(Function::softplus, modulations.shift(linear("dec"))), -1.0); };
  if (prior != Prior::softmax && !call.mask.is_causal()) throw UserError("mask: this prior is causal");
  if (prior == Prior::softmax && streams != nullptr) throw UserError("the softmax prior has no stream of fixed size");
  const Value<S> v = modulations.scale(linear("v"));
  if (o.observe) call.observed.add("v", v);
  // A recurrence that nobody asks for a free energy carries half as much.
  std::optional<Value<S>> tilt;
  if (o.log_sum_exp || o.observe) tilt = beta;
  switch (prior) {
    case Prior::softmax:
    case Prior::gla: {
      Value<S> q = modulations.scale(linear("q"));
      Value<S> k = modulations.scale(linear("k"));
      if (prior == Prior::gla || o.rope) {
        const Index first = streams != nullptr ? streams->position : 0;
        q = rotate_positions(q, o.heads, first);
        k = rotate_positions(k, o.heads, first);
      }
      if (prior == Prior::softmax) return softmax_prior(q, k, v, beta, o.heads, call.mask);
      const Value<S> g = o.decays > 0 ? decays() : x.tape->constant(Matrix<S>::Zero(x.rows(), o.heads));
      if (o.quadratic && streams == nullptr && g.cols() == o.heads) {
        return gla_prior_quadratic<S>(q, k, o.decays > 0 ? &g : nullptr, v, beta, o.heads, o.epsilon, call.mask);
      }
      return gla_prior<S>(q, k, g, v, tilt, o.heads, o.epsilon, streams);
    }
    case Prior::aft: return aft_prior<S>(modulations.scale(linear("k")), v, tilt, streams);
    case Prior::lrnn: return lrnn_prior<S>(decays(), v, tilt, streams);
    case Prior::ssm_invariant:
      return ssm_invariant_prior<S>({p["ssm_A"], p["ssm_B"], p["ssm_C"], p["ssm_D"], p["ssm_dt"]}, v, tilt, streams);
    case Prior::ssm_selective:
      return ssm_selective_prior<S>({positive("dt"), positive("B"), positive("C"), p["ssm_A"], p["ssm_D"]}, v, tilt,
                                    streams);
  }
  throw ContractViolation("unknown prior");
}

template <class S, Prior prior>
void fem(MixerCall<S>& call) {
  const MixerOptions& o = call.options;
  const auto& p = call.parameters;
  const Value<S> x = call.inputs["x"];
  Modulations<S> modulations(call, x);
  const Value<S> beta = inverse_temperature(p["xb"], "xb");
  const Branches<S> branches = read_prior(prior, call, x, beta, modulations);
  const auto linear = [&](const std::string& name) { return product(x, p["W_" + name]) + p["b_" + name]; };
  Value<S> lambda;
  Value<S> gate;
  const bool mixed = o.log_sum_exp && o.inner_gate;
  if (mixed) lambda = modulations.gate(linear("lam"), [](Value<S> raw) { return apply(Function::sigmoid, raw); });
  if (o.outer_gate) gate = modulations.gate(linear("g"), [&](Value<S> raw) { return outer_gate(raw, o.gate_groups); });
  const Branches<S> used = o.log_sum_exp ? branches : Branches<S>{branches.mean, branches.mean};
  const Value<S> u = gated_read(used, mixed ? &lambda : nullptr, o.outer_gate ? &gate : nullptr);
  call.outputs = {product(u, p["W_o"]) + p["b_o"]};
  if (call.streams != nullptr) call.streams->position += x.rows();
  if (!o.observe) return;
  call.observed.add("mu", branches.mean);
  call.observed.add("Fmax", branches.free_energy);
  if (mixed) call.observed.add("lam", lambda);
  if (o.outer_gate) call.observed.add("g", gate);
}

/// Options that a prior reads beside those of all priors.
std::vector<Member<MixerOptions>> prior_options(Prior prior) {
  using O = MixerOptions;
  switch (prior) {
    case Prior::softmax: return {&O::keys, &O::rope};
    case Prior::gla: return {&O::keys, &O::decays, &O::epsilon, &O::quadratic};
    case Prior::aft: return {&O::groups};
    case Prior::lrnn: return {&O::decays};
    case Prior::ssm_invariant:
    case Prior::ssm_selective: return {&O::states};
  }
  return {};
}

template <class S, Prior prior>
MixerKind<S> fem_kind(const std::string& name, const std::string& summary) {
  using O = MixerOptions;
  std::vector<Member<O>> options = prior_options(prior);
  options.insert(options.end(), {&O::values, &O::gate_groups, &O::modulation, &O::hidden, &O::hidden_scale,
                                 &O::log_sum_exp, &O::inner_gate, &O::outer_gate});
  return reading<S>({name, summary, [](const MixerOptions& o) { return fem_spec(o, prior); }, fem<S, prior>},
                    std::move(options));
}

}  // namespace

/// fem_<prior>: the Free Energy Mixer (Lu & Yang, "Free Energy Mixer"), x (tokens, width) to y of the same shape, with
///     v = x W_v + b_v, λ = sigmoid(x W_lam + b_lam), g = outer_gate(x W_g + b_g), β = softplus(xb + 1.8)
///     y = (g ∘ ((1 − λ) μ + λ F)) W_o + b_o
/// and the prior's own projections (free_energy_mixer.hpp): W_q, W_k, b_* (keys columns; aft: W_k of `groups`), W_dec (decay
/// −softplus), W_dt, W_B, W_C, ssm_*. With modulation, tdc_* condition on the past: v, q, k (before RoPE) times 1 + η,
/// decay's pre-activation plus δ, λ and g by `modulation`.
///
/// Departures from the print. The η of a key or value belongs to the key's own token (eq. 34b prints the query's, which would
/// forbid streaming), and q, k are scaled where eq. 34a adds Δθ. g stands before W_o (eq. 11; M.1 puts it after, which would cost
/// more than the stated parameters). Gates read token features (2.3.2, not M.4's values). 1/√dk is in the logits (B.1, not H.1).
///
/// Options: width, values, keys, heads, decays, groups, states, rope, epsilon, quadratic, gate_groups, modulation, hidden, hidden_scale,
/// and the ablations log_sum_exp, inner_gate, outer_gate. All but softmax: causal, O(T), with streams. Observed: v, mu, Fmax, lam, g.
template <class S>
MixerKind<S> fem_softmax_mixer() {
  return fem_kind<S, Prior::softmax>("fem_softmax", "Free Energy Mixer, softmax prior");
}
template <class S>
MixerKind<S> fem_gla_mixer() {
  return fem_kind<S, Prior::gla>("fem_gla", "Free Energy Mixer, gated linear attention prior");
}
template <class S>
MixerKind<S> fem_aft_mixer() {
  return fem_kind<S, Prior::aft>("fem_aft", "Free Energy Mixer, attention-free prior");
}
template <class S>
MixerKind<S> fem_lrnn_mixer() {
  return fem_kind<S, Prior::lrnn>("fem_lrnn", "Free Energy Mixer, decaying linear RNN prior");
}
template <class S>
MixerKind<S> fem_ssmlti_mixer() {
  return fem_kind<S, Prior::ssm_invariant>("fem_ssmlti", "Free Energy Mixer, time-invariant state-space prior");
}
template <class S>
MixerKind<S> fem_ssmsel_mixer() {
  return fem_kind<S, Prior::ssm_selective>("fem_ssmsel", "Free Energy Mixer, selective state-space prior");
}

#define NUDGE_FREE_ENERGY_MIXER(S)                                                       \
  template Value<S> inverse_temperature<S>(Value<S>, const std::string&);                \
  template Value<S> outer_gate<S>(Value<S>, Index);                                      \
  template Value<S> gated_read<S>(const Branches<S>&, const Value<S>*, const Value<S>*); \
  template MixerKind<S> fem_softmax_mixer<S>();                                          \
  template MixerKind<S> fem_gla_mixer<S>();                                              \
  template MixerKind<S> fem_aft_mixer<S>();                                              \
  template MixerKind<S> fem_lrnn_mixer<S>();                                             \
  template MixerKind<S> fem_ssmlti_mixer<S>();                                           \
  template MixerKind<S> fem_ssmsel_mixer<S>();
NUDGE_BOTH_PRECISIONS(NUDGE_FREE_ENERGY_MIXER)

}  // namespace nudge
