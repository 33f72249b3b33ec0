// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config_load.hpp"

namespace nudge {

/// Keys of a program's own, all of one section.
struct ConfigSection {
  std::string name;
  ParamTable rows;
};
/// Adds them, before anything else of nudge is used (OpenList).
void add_config_section(ConfigSection section);

/// Every key of the program: the tables of its parts, one after the other.
const ParamTable& program_table();
/// All of them at their defaults.
const Config& standard_program_config();

/// The table, the rules between keys and the presets.
const ConfigSchema& program_schema();

/// Names of the presets, and what each is for.
struct Preset {
  std::string name, doc, toml;
};
const std::vector<Preset>& program_presets();

/// The config of a file with the values after --set.
Config load_program_config(const std::string& path, const std::vector<std::string>& settings = {});

/// The same for a text, such as the dump that an HDF5 file holds (to resume); `name` stands for the file in messages.
Config parse_program_config(const std::string& name, const std::string& text,
                            const std::vector<std::string>& settings = {});

}  // namespace nudge
