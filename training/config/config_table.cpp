// SPDX-License-Identifier: Apache-2.0
#include "training/config/config_table.hpp"

#include <algorithm>

#include "circuits/read_policy.hpp"
#include "devices/device_config.hpp"
#include "devices/presets.hpp"
#include "training/compare/entrants.hpp"
#include "training/config/grid_repeats.hpp"
#include "training/config/rows.hpp"
#include "training/config/setup.hpp"
#include "training/models/registry.hpp"
#include "training/sweep/combinations.hpp"

namespace nudge {
namespace {

ParamTable concatenated() {
  ParamTable table;
  for (const auto rows : {general_rows, data_rows, model_rows, transformer_rows, hopfield_rows, resistive_rows,
                          mixer_rows, relaxation_rows, nudge_rows, correction_rows, train_rows, stabiliser_rows,
                          device_rows, read_policy_rows, sweep_rows, compare_rows, experiment_rows}) {
    for (ParamRow& row : rows()) table.push_back(std::move(row));
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
          [](const Config& config) { correction_spec(config).validate(); },
          [](const Config& config) { read_policy(config); },
          expect_no_grid_repeats,
          check_mode_axes,
          [](const Config& config) { read_entrants(config); }};
}

}  // namespace

const ConfigSchema& program_schema() {
  static const ConfigSchema schema{concatenated(),
                                   program_rules(),
                                   {{"preset", preset_text}, {"device.preset", device_preset_text}},
                                   program_checks(),
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
