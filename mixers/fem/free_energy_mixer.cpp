// SPDX-License-Identifier: Apache-2.0
#include "mixers/fem/free_energy_mixer.hpp"

#include <fmt/format.h>

#include <algorithm>

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

const Section<FreeEnergyOptions>& free_energy_section() {
  using param::flag;
  using param::integer;
  using param::zero_is;
  static const std::string energy = "Lu and Yang, Free Energy Mixer";
  // auto: none, but where sequence_mixer() has another, which a key at its default leaves as it is.
  static const Choices<Modulation> modulations{{"auto", Modulation::none},
                                               {"none", Modulation::none},
                                               {"before", Modulation::before},
                                               {"after", Modulation::after}};
  using O = FreeEnergyOptions;
  const Range size = between(0, 65536);
  static const Section<O> section = {
      field(zero_is("auto", integer("mixer.values", "auto", size, "fem_*: channels d that are read; auto: C/2.",
                                    energy + ", appendix H.7")),
            &O::values),
      field(
          zero_is("auto", integer("mixer.keys", "auto", size, "fem_softmax, fem_gla: columns of W_q and W_k; auto: C.",
                                  energy + ", appendix H.7")),
          &O::keys),
      field(zero_is("auto",
                    integer("mixer.decays", "auto", size,
                            "fem_gla: auto or H is a decay per head, mixer.keys one per feature; fem_lrnn: groups, "
                            "auto: H.")),
            &O::decays),
      field(integer("mixer.groups", "1", between(1, 65536), "fem_aft: groups of channels that share a weight."),
            &O::groups),
      field(integer("mixer.states", "16", between(1, 65536), "fem_ssm*: states N per channel; mamba2: per head."),
            &O::states),
      field(param::real("mixer.epsilon", "1e-6", above(0), "fem_gla: added to the features."), &O::epsilon),
      field(zero_is("auto",
                    integer("mixer.gate_groups", "auto", size, "fem_*: groups of the outer gate's norm; auto: H.")),
            &O::gate_groups),
      field(param::named("mixer.conditioner", "auto",
                         "fem_*: where the time-decay conditioner acts. none: nowhere. before, after: on the gates, "
                         "before or after their nonlinearity. auto: before in the fem_softmax of a sequence model, "
                         "else none.",
                         energy + ", appendix I; before keeps lambda in [0, 1]"),
            modulations, &O::modulation),
      field(zero_is("auto",
                    integer("mixer.conditioner_width", "auto", size,
                            "fem_*: channels of the conditioner; auto: C/16, at least 1.", energy + ", appendix K")),
            &O::hidden),
      field(flag("mixer.log_sum_exp", "true", "fem_*: false leaves out the free energy (ablation L)."),
            &O::log_sum_exp),
      field(flag("mixer.inner_gate", "true", "fem_*: false leaves out the learned temperature (ablation T)."),
            &O::inner_gate),
      field(flag("mixer.outer_gate", "true", "fem_*: false leaves out the gate (ablation G)."), &O::outer_gate)};
  return section;
}

MixerOptions free_energy_budget(Budget budget, Index width, Index heads) {
  MixerOptions o;
  FreeEnergyOptions& own = o.of<FreeEnergyOptions>();
  o.width = width;
  o.heads = own.gate_groups = heads;
  if (budget == Budget::half) {
    require_divides("2", 2, "width", width);
    own.values = width / 2;
    own.keys = width;
  } else {
    require_divides("3", 3, "width", width);
    own.values = own.keys = 2 * width / 3;
  }
  require_divides("heads", heads, "values", own.values);
  return o;
}

namespace {

/// Modulations by the conditioner: slices of its output in the order v, q, k, decay, λ, g (those that exist).
template <class S>
class Modulations {
 public:
  Modulations(const MixerCall<S>& call, Value<S> x)
      : modulation_(call.options.template of<FreeEnergyOptions>().modulation) {
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

Widths widths(const FreeEnergyOptions& own, Prior prior) {
  switch (prior) {
    case Prior::softmax: return {own.keys, own.keys, 0};
    case Prior::gla: return {own.keys, own.keys, own.decays};
    case Prior::aft: return {0, own.groups, 0};
    case Prior::lrnn: return {0, 0, own.decays};
    default: return {};
  }
}

void check(const MixerOptions& o, Prior prior) {
  const FreeEnergyOptions& own = o.of<FreeEnergyOptions>();
  require_at_least("width", o.width, 1);
  require_at_least("values", own.values, 1);
  if (own.outer_gate) require_divides("gate_groups", own.gate_groups, "values", own.values);
  if (prior == Prior::softmax || prior == Prior::gla) {
    require_divides("heads", o.heads, "keys", own.keys);
    require_divides("heads", o.heads, "values", own.values);
    if ((prior == Prior::gla || o.rope) && (own.keys / o.heads) % 2 != 0) {
      throw UserError(fmt::format("keys = {}: head width {} is odd (rotary positions turn pairs: use an even width)",
                                  own.keys, own.keys / o.heads));
    }
  }
  if (prior == Prior::gla) {
    require_positive("epsilon", own.epsilon);
    if (own.decays != 0 && own.decays != o.heads && own.decays != own.keys) {
      throw UserError(fmt::format("decays = {} (must be one per head, {}, one per feature, {}, or 0)", own.decays,
                                  o.heads, own.keys));
    }
  }
  if (prior == Prior::aft) require_divides("groups", own.groups, "values", own.values);
  if (prior == Prior::lrnn) require_divides("decays", own.decays, "values", own.values);
  if (prior == Prior::ssm_invariant || prior == Prior::ssm_selective) require_at_least("states", own.states, 1);
}

MixerSpec fem_spec(const MixerOptions& o, Prior prior) {
  check(o, prior);
  const FreeEnergyOptions& own = o.of<FreeEnergyOptions>();
  MixerSpec spec{{{"x", {-1, o.width}}}, {}, {{"y", {-1, o.width}}}};
  spec.only_causal = prior != Prior::softmax;
  constexpr double deviation =
      0.02;  // appendix K's zeros for embeddings would make all tokens equal; biases start at 0
  const auto linear = [&](const std::string& name, Index in, Index out) {
    spec.parameters.push_back({"W_" + name, {in, out}, 0, deviation});
    spec.parameters.push_back({"b_" + name, {out}});
  };
  const Widths w = widths(own, prior);
  linear("v", o.width, own.values);
  if (w.q > 0) linear("q", o.width, w.q);
  if (w.k > 0) linear("k", o.width, w.k);
  if (w.decay > 0) linear("dec", o.width, w.decay);
  if (prior == Prior::ssm_selective) {
    linear("dt", o.width, own.values);
    linear("B", o.width, own.states);
    linear("C", o.width, own.states);
  }
  if (own.log_sum_exp && own.inner_gate) linear("lam", o.width, own.values);
  if (own.outer_gate) linear("g", o.width, own.values);
  linear("o", own.values, o.width);
  spec.parameters.push_back({"xb", {own.values}});
  if (prior == Prior::ssm_invariant || prior == Prior::ssm_selective) {
    spec.parameters.push_back({"ssm_A", {own.values, own.states}, 0, 1});
    spec.parameters.push_back({"ssm_D", {own.values}});
  }
  if (prior == Prior::ssm_invariant) {
    spec.parameters.push_back({"ssm_B", {own.values, own.states}, 0, 1});
    spec.parameters.push_back({"ssm_C", {own.values, own.states}, 0, 1});
    spec.parameters.push_back({"ssm_dt", {own.values}, 0, 1});
  }
  if (own.modulation != Modulation::none) {
    const Index gates = (own.log_sum_exp && own.inner_gate ? own.values : 0) + (own.outer_gate ? own.values : 0);
    for (Field& field : conditioner_fields(o.width, own.hidden, own.values + w.q + w.k + w.decay + gates)) {
      spec.parameters.push_back(std::move(field));
    }
  }
  return spec;
}

/// Branches of a prior from the projections of x; β as given, projections changed by `modulations`.
template <class S>
Branches<S> read_prior(Prior prior, MixerCall<S>& call, Value<S> x, Value<S> beta, Modulations<S>& modulations) {
  const MixerOptions& o = call.options;
  const FreeEnergyOptions& own = o.of<FreeEnergyOptions>();
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
  if (own.log_sum_exp || o.observe) tilt = beta;
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
      const Value<S> g = own.decays > 0 ? decays() : x.tape->constant(Matrix<S>::Zero(x.rows(), o.heads));
      if (own.quadratic && streams == nullptr && g.cols() == o.heads) {
        return gla_prior_quadratic<S>(q, k, own.decays > 0 ? &g : nullptr, v, beta, o.heads, own.epsilon, call.mask);
      }
      return gla_prior<S>(q, k, g, v, tilt, o.heads, own.epsilon, streams);
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
  const FreeEnergyOptions& own = o.of<FreeEnergyOptions>();
  const auto& p = call.parameters;
  const Value<S> x = call.inputs["x"];
  Modulations<S> modulations(call, x);
  const Value<S> beta = inverse_temperature(p["xb"], "xb");
  const Branches<S> branches = read_prior(prior, call, x, beta, modulations);
  const auto linear = [&](const std::string& name) { return product(x, p["W_" + name]) + p["b_" + name]; };
  Value<S> lambda;
  Value<S> gate;
  const bool mixed = own.log_sum_exp && own.inner_gate;
  if (mixed) lambda = modulations.gate(linear("lam"), [](Value<S> raw) { return apply(Function::sigmoid, raw); });
  if (own.outer_gate)
    gate = modulations.gate(linear("g"), [&](Value<S> raw) { return outer_gate(raw, own.gate_groups); });
  const Branches<S> used = own.log_sum_exp ? branches : Branches<S>{branches.mean, branches.mean};
  const Value<S> u = gated_read(used, mixed ? &lambda : nullptr, own.outer_gate ? &gate : nullptr);
  call.outputs = {product(u, p["W_o"]) + p["b_o"]};
  if (call.streams != nullptr) call.streams->position += x.rows();
  if (!o.observe) return;
  call.observed.add("mu", branches.mean);
  call.observed.add("Fmax", branches.free_energy);
  if (mixed) call.observed.add("lam", lambda);
  if (own.outer_gate) call.observed.add("g", gate);
}

/// What a prior reads, and what all do.
template <Prior prior>
MixerKeys fem_keys(const MixerOptions& made) {
  using O = FreeEnergyOptions;
  const O& own = made.of<O>();
  std::vector<Member<O>> read = {&O::values, &O::modulation, &O::hidden};
  if (own.log_sum_exp) read.emplace_back(&O::log_sum_exp);
  if (own.log_sum_exp && own.inner_gate) read.emplace_back(&O::inner_gate);
  if (own.outer_gate) read.insert(read.end(), {&O::outer_gate, &O::gate_groups});
  if constexpr (prior == Prior::softmax || prior == Prior::gla) read.emplace_back(&O::keys);
  if constexpr (prior == Prior::gla || prior == Prior::lrnn) read.emplace_back(&O::decays);
  if constexpr (prior == Prior::gla) read.emplace_back(&O::epsilon);
  if constexpr (prior == Prior::aft) read.emplace_back(&O::groups);
  if constexpr (prior == Prior::ssm_invariant || prior == Prior::ssm_selective) read.emplace_back(&O::states);
  return keys_of(free_energy_section(), read) + (prior == Prior::softmax ? rope_key(made) : MixerKeys());
}

void fit_fem(MixerOptions& options) {
  FreeEnergyOptions& own = options.of<FreeEnergyOptions>();
  const auto fill = [](Index& size, Index otherwise) { size = size > 0 ? size : otherwise; };
  fill(own.values, options.width / 2);
  fill(own.keys, options.width);
  fill(own.decays, options.heads);
  fill(own.gate_groups, options.heads);
  fill(own.hidden, std::max<Index>(1, options.width / 16));
}

template <class S, Prior prior>
MixerKind<S> fem_kind(const std::string& name, const std::string& summary) {
  return reading<S>({name, summary, [](const MixerOptions& o) { return fem_spec(o, prior); }, fem<S, prior>},
                    fem_keys<prior>, fit_fem);
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
