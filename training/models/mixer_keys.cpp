// SPDX-License-Identifier: Apache-2.0
#include "training/models/mixer_keys.hpp"

#include <algorithm>

#include "mixers/mixer.hpp"
#include "mixers/sequence_mixer.hpp"
#include "training/models/model_options.hpp"

namespace nudge {
namespace {

/// Mixer that a key may choose: the value of the key, and the kind and options that it stands for in some size.
struct Named {
  std::string name, kind;
  MixerOptions options;
  bool momentum = false;  ///< momentum between layers
};

bool reads(const Named& mixer, const OptionField<MixerChoice>& field) {
  const MixerKind<double>& kind = mixer_kind<double>(mixer.kind);
  const auto all = [&](const Member<MixerChoice>& member) { return member.holds(field.member); };
  const auto part = [&](const Member<MixerOptions>& member) {
    return all(member.within<MixerChoice>(&MixerChoice::options));
  };
  if (all(&MixerChoice::initial_scale) || part(&MixerOptions::iterations)) return true;
  if (mixer.momentum && part(&MixerOptions::momentum_start)) return true;
  const MixerOptions& own = mixer.options;  // what it is made without cannot be left out once more
  if (!own.outer_gate && (part(&MixerOptions::outer_gate) || part(&MixerOptions::gate_groups))) return false;
  if (!own.log_sum_exp && (part(&MixerOptions::log_sum_exp) || part(&MixerOptions::inner_gate))) return false;
  if (!own.inner_gate && part(&MixerOptions::inner_gate)) return false;
  if (own.rope && part(&MixerOptions::rope)) return false;
  if (all(&MixerChoice::window) || all(&MixerChoice::bidirectional)) return !kind.spec(mixer.options).only_causal;
  return std::any_of(kind.options.begin(), kind.options.end(), part);
}

ParamTable rows_of(const std::string& choice, const std::vector<Named>& mixers) {
  ParamTable rows;
  for (const OptionField<MixerChoice>& field : mixer_section().fields()) {
    std::vector<std::string> readers;
    for (const Named& mixer : mixers) {
      if (reads(mixer, field)) readers.push_back(mixer.name);
    }
    if (!readers.empty()) rows.push_back(read_with(chosen(choice, readers), field.row));
    // Files of older versions say so of mixers that have no conditioner.
    if (field.row.key == "mixer.conditioner") add_rows(rows, {read_with(chosen(field.row.key, {"none"}), field.row)});
  }
  return rows;
}

}  // namespace

MixerChoice sequence_choice(const Config& config, const std::string& name, Index channels, Index heads, Index tokens) {
  const SequenceMixer mixer = sequence_mixer(name, channels, heads, tokens);
  MixerChoice choice{mixer.kind, mixer.options};
  mixer_section().take_changed(config, choice);
  choice.initial_scale = 1;
  return choice;
}

ParamTable mixer_rows(const std::string& choice, const std::vector<std::string>& kinds) {
  std::vector<Named> mixers;
  MixerOptions one_head;  // a size that every kind accepts
  one_head.heads = one_head.decays = 1;
  one_head.head_width = one_head.width;
  for (const std::string& kind : kinds) mixers.push_back({kind, kind, one_head});
  return rows_of(choice, mixers);
}

ParamTable sequence_mixer_rows(const std::string& choice, const std::vector<std::string>& names) {
  std::vector<Named> mixers;
  for (const std::string& name : names) {
    if (name == MixerChoice::fused) continue;
    const SequenceMixer mixer = sequence_mixer(name, 64, 4, 2);  // sizes that all can have
    mixers.push_back({name, mixer.kind, mixer.options, mixer.rule != StepRule::residual});
  }
  ParamTable rows = rows_of(choice, mixers);
  std::erase_if(rows, [](const ParamRow& row) { return row.key == "mixer.initial_scale"; });
  return rows;
}

}  // namespace nudge
