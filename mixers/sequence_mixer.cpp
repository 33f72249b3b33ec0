// SPDX-License-Identifier: Apache-2.0
#include "mixers/sequence_mixer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "mixers/attention/gradient_descent.hpp"
#include "mixers/attention/heads.hpp"
#include "mixers/baselines/mamba2.hpp"
#include "mixers/fem/free_energy_mixer.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Length up to which sequences go through T x T products. The recurrence of the O(T) priors needs keys·values/heads
/// exponentials per token and head, a product 2·T·(keys + 2·values)/heads operations.
constexpr Index kQuadraticUpTo = 512;

MixerOptions rotary(Index width, Index heads) {
  require_divides("heads", heads, "channels", width);
  MixerOptions o;
  o.width = width;
  o.heads = heads;
  o.rope = true;
  return o;
}

MixerOptions attention(Index width, Index heads) {
  MixerOptions o = rotary(width, heads);
  const Index head_width = o.of<AttentionOptions>().head_width = width / heads;
  if (head_width % 2 != 0) {
    throw UserError(fmt::format("heads = {}: head width {} is odd (rotary positions turn pairs: use an even width)",
                                heads, head_width));
  }
  return o;
}

/// Options of a Free Energy Mixer with d values and queries and keys of `keys` columns.
MixerOptions free_energy(Index width, Index heads, Index values, Index keys) {
  MixerOptions o = rotary(width, heads);
  FreeEnergyOptions& own = o.of<FreeEnergyOptions>();
  own.values = values;
  own.keys = keys;
  own.gate_groups = heads;
  return o;
}

MixerOptions gated_linear(MixerOptions o, Index tokens, Index decays) {
  o.of<FreeEnergyOptions>().decays = decays;
  o.of<FreeEnergyOptions>().quadratic = tokens <= kQuadraticUpTo;
  return o;
}

/// Options of fem_softmax_lt: weights 3 d D + 2 K D = 4 D² with d = 3D/4, K = 7D/8.
MixerOptions with_inner_gate(Index width, Index heads) {
  require_divides("8", 8, "channels", width);
  MixerOptions o = free_energy(width, heads, 3 * width / 4, 7 * width / 8);
  o.of<FreeEnergyOptions>().outer_gate = false;
  return o;
}

/// Options of priors without queries: 4 d D weights with all gates (d = D), 2 d D without (d = 2 D). ssmsel has a step of
/// every channel more (d = 3D/4, 5D/4), and N = D/8 states.
std::optional<MixerOptions> of_other_prior(const std::string& name, Index width, Index heads) {
  const bool whole = name.rfind("fem_", 0) == 0, selective = name.ends_with("ssmsel");
  const bool known = name.ends_with("aft") || name.ends_with("lrnn") || name.ends_with("ssmlti") || selective;
  if (!known) return std::nullopt;
  if (selective) require_divides("4", 4, "channels", width);
  const Index values = selective ? (whole ? 3 * width / 4 : 5 * width / 4) : (whole ? width : 2 * width);
  MixerOptions o = free_energy(width, heads, values, width);
  require_divides("heads", heads, "values", values);
  FreeEnergyOptions& own = o.of<FreeEnergyOptions>();
  own.groups = own.decays = heads;
  own.states = std::max<Index>(1, width / 8);
  own.log_sum_exp = own.inner_gate = own.outer_gate = whole;
  own.hidden = std::max<Index>(1, width / 16);
  return o;
}

MixerOptions options_of(const std::string& name, Index width, Index heads, Index tokens) {
  if (name == "fem_softmax" || name == "fem_softmax_ltg" || name == "fem_gla") {
    MixerOptions o = free_energy_budget(Budget::half, width, heads);
    o.rope = true;
    o.of<FreeEnergyOptions>().hidden = std::max<Index>(1, width / 16);  // appendix K
    if (name == "fem_softmax") o.of<FreeEnergyOptions>().modulation = Modulation::before;
    return name == "fem_gla" ? gated_linear(o, tokens, heads) : o;
  }
  if (const auto prior = of_other_prior(name, width, heads)) return *prior;
  if (name == "fem_softmax_lt") return with_inner_gate(width, heads);
  if (name == "fem_softmax_l") {
    MixerOptions o = free_energy(width, heads, width, width);
    o.of<FreeEnergyOptions>().inner_gate = o.of<FreeEnergyOptions>().outer_gate = false;
    return o;
  }
  if (name == "linear" || name == "gla") {
    const bool gated = name == "gla";
    if (gated) require_divides("2", 2, "channels", width);
    MixerOptions o = free_energy(width, heads, width, gated ? width / 2 : width);
    o.of<FreeEnergyOptions>().log_sum_exp = false;
    o.of<FreeEnergyOptions>().outer_gate = gated;
    return gated_linear(o, tokens, gated ? heads : 0);
  }
  MixerOptions o = attention(width, heads);
  o.of<DescentOptions>().temperature = 1;
  if (name == "gated_deltanet") o.of<AttentionOptions>().head_width /= 2;
  if (name == "mamba2") o.of<MambaOptions>().states = std::max<Index>(1, width / 2);
  return o;
}

}  // namespace

const std::vector<std::string>& sequence_mixer_names() {
  static const std::vector<std::string> names = {"mha",
                                                 "momen",
                                                 "nag",
                                                 "light2nd1st",
                                                 "fem_softmax_l",
                                                 "fem_softmax_lt",
                                                 "fem_softmax_ltg",
                                                 "fem_softmax",
                                                 "linear",
                                                 "gla",
                                                 "fem_gla",
                                                 "mha2nd1st",
                                                 "mha2nd1st_nov",
                                                 "gd_inner",
                                                 "gd_elastic",
                                                 "loop_inner",
                                                 "loop_elastic",
                                                 "deltanet",
                                                 "gated_deltanet",
                                                 "mamba2",
                                                 "hyena",
                                                 "differential",
                                                 "fem_aft",
                                                 "aft",
                                                 "fem_lrnn",
                                                 "lrnn",
                                                 "fem_ssmlti",
                                                 "fem_ssmsel",
                                                 "ssmsel"};
  return names;
}

MixerKeys SequenceMixer::keys() const {
  MixerKeys own = mixer_kind<float>(kind).keys(options);
  if (rule != StepRule::residual) own = own + keys_of(momentum_section(), {&MomentumOptions::momentum_start});
  return own;
}

MixerOptions one_head() {
  MixerOptions options;
  options.heads = options.of<FreeEnergyOptions>().decays = 1;
  options.of<AttentionOptions>().head_width = options.width;
  return options;
}

SequenceMixer sequence_mixer(const std::string& name, Index width, Index heads, Index tokens) {
  SequenceMixer mixer;
  mixer.name = name;
  mixer.options = options_of(name, width, heads, tokens);
  mixer.kind = name;
  if (name == "momen" || name == "nag") {
    mixer.kind = "mha";
    mixer.rule = name == "nag" ? StepRule::nesterov : StepRule::heavy_ball;
  }
  if (name.rfind("fem_softmax", 0) == 0) mixer.kind = "fem_softmax";
  if (name == "linear" || name == "gla") mixer.kind = "fem_gla";
  if (name == "aft" || name == "lrnn" || name == "ssmsel") mixer.kind = "fem_" + name;
  static_cast<void>(mixer_kind<float>(mixer.kind).spec(mixer.options));  // its own checks
  return mixer;
}

}  // namespace nudge
