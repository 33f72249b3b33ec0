// SPDX-License-Identifier: Apache-2.0
#include "training/config/config_table.hpp"
#include "training/config/cost_options.hpp"

#include <algorithm>
#include <iterator>

#include "circuits/read_policy.hpp"
#include "devices/device_config.hpp"
#include "devices/presets.hpp"
#include "sim/base/open_list.hpp"
#include "training/config/assembly.hpp"
#include "training/config/combinations.hpp"
#include "training/config/entrants.hpp"
#include "training/config/grid_repeats.hpp"
#include "training/config/hardware.hpp"
#include "training/config/hardware_aware.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/rows.hpp"
#include "training/config/run_options.hpp"
#include "training/config/stabiliser_options.hpp"
#include "training/config/train_options.hpp"
#include "training/config/unread_keys.hpp"
#include "training/data/data_options.hpp"
#include "training/data/series.hpp"
#include "training/learning/cost_kinds.hpp"
#include "training/models/block/block_config.hpp"
#include "training/models/hopfield/hopfield_config.hpp"
#include "training/models/netlist/netlist_config.hpp"
#include "training/models/oscillator/oscillator_network.hpp"
#include "training/models/own/own_network.hpp"
#include "training/models/registry.hpp"
#include "training/models/resistive/resistive_config.hpp"
#include "training/models/stack/stack_plan.hpp"
#include "training/models/tapes/tape_kinds.hpp"
#include "training/models/thermal/thermal_network.hpp"
#include "training/models/transformer/transformer_config.hpp"

namespace nudge {
namespace {

OpenList<ConfigSection>& added() {
  static OpenList<ConfigSection> sections({});
  return sections;
}

ParamTable concatenated() {
  ParamTable table;
  for (ParamTable part : {run_section().rows(),
                          data_section().rows(),
                          series_section().rows(),
                          network_rows(),
                          cost_choice_section().rows(),
                          model_section().rows(),
                          stack_section().rows(),
                          transformer_section().rows(),
                          hopfield_section().rows(),
                          convolutional_section().rows(),
                          neuron_section().rows(),
                          resistive_section().rows(),
                          own_section().rows(),
                          netlist_section().rows(),
                          oscillator_section().rows(),
                          thermal_section().rows(),
                          mixer_section().rows(),
                          phase_section().rows(),
                          gradcheck_section().rows(),
                          correction_section().rows(),
                          attention_section().rows(),
                          train_section().rows(),
                          stabiliser_section().rows(),
                          growth_section().rows(),
                          hardware_aware_section().rows(),
                          hardware_section().rows(),
                          device_rows(),
                          cost_section().rows(),
                          read_policy_rows(),
                          correlator_section().rows(),
                          sweep_rows(),
                          compare_rows(),
                          sequence_section().rows(),
                          latent_section().rows(),
                          argmax_section().rows()}) {
    std::move(part.begin(), part.end(), std::back_inserter(table));
  }
  for (const ConfigSection& section : added().all()) {
    table.insert(table.end(), section.rows.begin(), section.rows.end());
  }
  return table;
}

/// The texts of the presets; a name that does not exist is reported where it is written, by the choices of its row.
std::string preset_text(const std::string& name) {
  for (const Preset& preset : program_presets()) {
    if (preset.name == name) return preset.toml;
  }
  return {};
}

std::string device_preset_text(const std::string& name) {
  const auto& presets = device_presets();
  const bool known =
      std::any_of(presets.begin(), presets.end(), [&](const auto& preset) { return preset.name == name; });
  return known ? device_preset_toml(name) : "";
}

/// What the devices, the crossbar and the correction path require of their numbers together, and what is listed once.
std::vector<ConfigCheck> program_checks() {
  return {expect_sound_devices,
          check_kinds,
          expect_keys_read,
          [](const Config& config) { correction_spec(config).validate(); },
          [](const Config& config) { read_policy(config); },
          expect_no_grid_repeats,
          check_mode_axes,
          [](const Config& config) { read_entrants(config); }};
}

}  // namespace

void add_config_section(ConfigSection section) { added().add(std::move(section)); }

const ConfigSchema& program_schema() {
  static const ConfigSchema schema{
      concatenated(),         program_rules(), {{"preset", preset_text}, {"device.preset", device_preset_text}},
      program_checks(),       level_values,    "hardware.level",
      standard_program_config};
  return schema;
}

const ParamTable& program_table() { return program_schema().table; }

const Config& standard_program_config() {
  static const Config standard(program_table());
  return standard;
}

Config load_program_config(const std::string& path, const std::vector<std::string>& settings) {
  return load_config(program_schema(), path, settings);
}

Config parse_program_config(const std::string& name, const std::string& text,
                            const std::vector<std::string>& settings) {
  return parse_config(program_schema(), name, text, settings);
}

}  // namespace nudge
