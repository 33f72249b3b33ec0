// SPDX-License-Identifier: Apache-2.0
#include "training/models/mixer_keys.hpp"

#include "mixers/fem/free_energy_mixer.hpp"
#include "training/models/model_options.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

/// Whether the config has a mixer with a conditioner, which its size waits for.
bool has_conditioner(const Config& config) {
  const auto mixer = network_kind(config).mixer;
  const auto choice = mixer == nullptr ? std::nullopt : mixer(config);
  return choice && choice->options.of<FreeEnergyOptions>().modulation != Modulation::none;
}

/// Adds what a mixer reads where it is chosen.
void add_mixer(ParamTable& rows, const Condition& chosen_one, const SequenceMixer& mixer) {
  const bool masked = !mixer_kind<double>(mixer.kind).spec(mixer.options).only_causal;
  const Section<MixerChoice>& all = mixer_section();
  add_rows(rows, read_with(chosen_one, masked ? all.rows()
                                              : all.rows_without({&MixerChoice::window, &MixerChoice::bidirectional})));
  for (MixerKey& key : mixer.keys()) {
    if (key.row.key == "mixer.conditioner_width") {
      key.row = read_with({"mixer.conditioner", has_conditioner, "before or after"}, std::move(key.row));
    }
    add_rows(rows, {read_with(chosen_one, key.row)});
    // Files of older versions say so of mixers that have no conditioner.
    if (key.row.key == "mixer.conditioner") add_rows(rows, {read_with(chosen(key.row.key, {"none"}), key.row)});
  }
}

}  // namespace

MixerChoice sequence_choice(const Config& config, const std::string& name, Index channels, Index heads, Index tokens) {
  const SequenceMixer mixer = sequence_mixer(name, channels, heads, tokens);
  MixerChoice choice{mixer.kind, mixer.options};
  mixer_section().take_changed(config, choice);
  for (const MixerKey& key : mixer.keys()) {
    if (!config.at_default(key.row.key)) key.read(config, choice.options);
  }
  choice.initial_scale = 1;
  return choice;
}

ParamTable mixer_rows(const std::string& choice, const std::vector<std::string>& kinds) {
  ParamTable rows;
  for (const std::string& kind : kinds) {
    add_mixer(rows, chosen(choice, {kind}), {kind, kind, StepRule::residual, one_head()});
  }
  return rows;
}

ParamTable sequence_mixer_rows(const std::string& choice, const std::vector<std::string>& names) {
  ParamTable rows;
  for (const std::string& name : names) {
    if (name == MixerChoice::fused) continue;
    add_mixer(rows, chosen(choice, {name}), sequence_mixer(name, 64, 4, 2));  // sizes that all can have
  }
  std::erase_if(rows, [](const ParamRow& row) { return row.key == "mixer.initial_scale"; });
  return rows;
}

}  // namespace nudge
