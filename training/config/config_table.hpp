// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"

namespace nudge {

/// Every key of the program: the tables of its parts, one after the other.
const ParamTable& program_table();
/// All of them at their defaults.
const Config& standard_program_config();

/// The table, the rules between keys and the presets.
const ConfigSchema& program_schema();

/// Throws UserError for keys that are set and that nothing reads (sim/config/reading.hpp). A file may serve several commands: an estimator
/// that `nudge gradcheck` or `nudge compare` would run reads its keys. The second function is for a training, which runs `estimator` and
/// train.beside alone.
void expect_keys_read(const Config& config);
void expect_training_reads(const Config& config);

/// The keys that were set, or that a sweep or comparison varies, and that no training of this config reads, though other commands may.
std::vector<std::string> idle_keys(const Config& config);

/// Whether a training of this config reads the key: else another value of it makes the same run.
bool training_reads(const Config& config, const std::string& key);

/// Whether the kind of network does, whatever else decides.
bool network_reads(const Config& config, const std::string& key);

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
