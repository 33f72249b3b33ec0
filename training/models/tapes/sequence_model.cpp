// SPDX-License-Identifier: Apache-2.0
#include "training/models/tapes/sequence_model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <utility>

#include "mixers/attention/gradient_descent.hpp"
#include "mixers/layers.hpp"
#include "mixers/mixer.hpp"

namespace nudge {
namespace {

std::string block_prefix(Index block) { return fmt::format("b{}_", block); }

Index inner_width(const SequenceShape& s) { return s.inner > 0 ? s.inner : (8 * s.width / 3 + 31) / 32 * 32; }

/// Mixer and step rule of a block's sub-layers.
struct StepMixer {
  MixerChoice choice;
  StepRule rule;
};

StepMixer mixer_of(const SequenceShape& s) {
  const SequenceMixer mixer = sequence_mixer(s.mixer, s.width, s.heads, s.tokens);
  return {s.choice.value_or(MixerChoice{mixer.kind, mixer.options}), mixer.rule};
}

/// Makes the sine and cosine position code of Vaswani et al., arXiv:1706.03762, section 3.5.
template <class S>
Matrix<S> position_code(Index tokens, Index width) {
  Matrix<S> code(tokens, width);
  for (Index t = 0; t < tokens; ++t) {
    for (Index c = 0; c < width; ++c) {
      const Index even = c - c % 2;
      const double angle =
          static_cast<double>(t) * std::pow(10000.0, -static_cast<double>(even) / static_cast<double>(width));
      code(t, c) = static_cast<S>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return code;
}

/// Takes a step x ← x + U(x), or one with momentum. Its constants are column `part` of p[prefix + "beta"] and p[prefix
/// + "eta"].
template <class S>
void take_step(StepRule rule, Motion<S>& at, const NamedValues<S>& p, const std::string& prefix, Index part,
               const std::function<Value<S>(Value<S>)>& update) {
  if (rule == StepRule::residual) {
    at.z = at.z + update(at.z);
    return;
  }
  const LookAhead look_ahead = rule == StepRule::nesterov ? LookAhead::paper : LookAhead::none;
  at = momentum_step(look_ahead, at, columns(p[prefix + "beta"], part, 1), columns(p[prefix + "eta"], part, 1), update);
}

/// Computes the mixer's update of normed tokens; its parameters stand under `prefix`.
template <class S>
Value<S> update_of(const MixerChoice& mixer, Value<S> normed, const NamedValues<S>& p, const std::string& prefix) {
  const MixerSpec spec = mixer_spec(mixer);
  std::vector<Value<S>> weights;
  for (const Field& field : spec.parameters) weights.push_back(p[prefix + field.name]);
  const Value<S> out = mixed<S>(mixer, normed, weights);
  return spec.residual ? out - normed : out;
}

template <class S>
Value<S> decode_last_vector(Value<S> x, const NamedValues<S>& p) {
  const Value<S> ones = x.tape->constant(Matrix<S>::Ones(x.rows(), 1));
  const Value<S> last = product(ones, rows(x, x.rows() - 1, 1));
  const Value<S> at = last + x.tape->constant(position_code<S>(x.rows(), x.cols()));
  const Value<S> inner = apply(Function::gelu, product(rms_norm(at) * p["dec_n1"], p["dec_W1"]) + p["dec_b1"]);
  return rms_norm(inner) * p["dec_n2"];
}

}  // namespace

std::vector<Field> sequence_fields(const SequenceShape& s) {
  require_at_least("vocabulary", s.vocabulary, 1);
  require_at_least("tokens", s.tokens, 1);
  require_at_least("blocks", s.blocks, 1);
  const StepMixer mixer = mixer_of(s);
  const double narrow = 1.0 / std::sqrt(static_cast<double>(s.width));
  std::vector<Field> fields;
  if (s.features > 0) {
    fields = {{"in_W", {s.features, s.width}, 0, 1.0 / std::sqrt(static_cast<double>(s.features))},
              {"in_b", {s.width}}};
  } else {
    fields = {{"emb", {s.vocabulary, s.width}, 0, s.embedding_scale}};
  }
  for (Index l = 0; l < s.blocks; ++l) {
    const std::string prefix = block_prefix(l);
    fields.push_back({prefix + "n1", {s.width}, 1});
    for (Field& field : mixer_spec(mixer.choice).parameters) {
      field.name = prefix + field.name;
      fields.push_back(std::move(field));
    }
    for (Field& field : feed_forward_fields(prefix, s.width, inner_width(s))) fields.push_back(std::move(field));
    if (mixer.rule == StepRule::residual) continue;
    fields.push_back({prefix + "beta", {2}, mixer.choice.options.of<MomentumOptions>().momentum_start});
    fields.push_back({prefix + "eta", {2}, 1.0});
  }
  fields.push_back({"nf", {s.width}, 1});
  if (s.readout == Readout::last_vector) {
    fields.push_back({"dec_n1", {s.width}, 1});
    fields.push_back({"dec_W1", {s.width, s.width}, 0, narrow});
    fields.push_back({"dec_b1", {s.width}});
    fields.push_back({"dec_n2", {s.width}, 1});
  }
  if (!s.tied) fields.push_back({"read", {s.width, s.vocabulary}, 0, narrow});
  return fields;
}

template <class S>
Value<S> sequence_logits(Value<S> x, const SequenceShape& s, const NamedValues<S>& p) {
  const StepMixer mixer = mixer_of(s);
  Motion<S> at{x, {}};
  if (mixer.rule != StepRule::residual) at.p = x.tape->constant(Matrix<S>::Zero(at.z.rows(), at.z.cols()));
  for (Index l = 0; l < s.blocks; ++l) {
    const std::string prefix = block_prefix(l);
    take_step<S>(mixer.rule, at, p, prefix, 0,
                 [&](Value<S> z) { return update_of(mixer.choice, rms_norm(z) * p[prefix + "n1"], p, prefix); });
    take_step<S>(mixer.rule, at, p, prefix, 1, [&](Value<S> z) { return feed_forward(z, p, prefix); });
  }
  Value<S> out = rms_norm(at.z) * p["nf"];
  if (s.readout == Readout::last_vector) out = decode_last_vector(out, p);
  return s.tied ? tied_read(out, p["emb"]) : product(out, p["read"]);
}

template Value<float> sequence_logits<float>(Value<float>, const SequenceShape&, const NamedValues<float>&);
template Value<double> sequence_logits<double>(Value<double>, const SequenceShape&, const NamedValues<double>&);

}  // namespace nudge
