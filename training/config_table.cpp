// SPDX-License-Identifier: Apache-2.0
#include "training/config_table.hpp"

#include <fmt/format.h>

#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"
#include "training/config/rows.hpp"

namespace nudge {
namespace {

ParamTable concatenated() {
  ParamTable table;
  for (const auto rows :
       {general_rows, model_rows, relaxation_rows, nudge_rows, train_rows, stabiliser_rows, device_rows, sweep_rows}) {
    for (ParamRow& row : rows()) table.push_back(std::move(row));
  }
  return table;
}

std::string preset_text(const std::string& name) {
  std::vector<std::string> names;
  for (const Preset& preset : program_presets()) {
    if (preset.name == name) return preset.toml;
    names.push_back(preset.name);
  }
  throw UserError(fmt::format("unknown preset {} ({})", name, did_you_mean(name, names)));
}

}  // namespace

const ConfigSchema& program_schema() {
  static const ConfigSchema schema{concatenated(), program_rules(), {{"preset", preset_text}}};
  return schema;
}

const ParamTable& program_table() { return program_schema().table; }

Config load_program_config(const std::string& path, const std::vector<std::string>& settings) {
  return load_config(program_schema(), path, settings);
}

Config parse_program_config(const std::string& name, const std::string& text,
                            const std::vector<std::string>& settings) {
  return parse_config(program_schema(), name, text, settings);
}

}  // namespace nudge
