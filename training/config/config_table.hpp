// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"

namespace nudge {

/// Every key of the program: the tables of its parts, one after the other.
const ParamTable& program_table();
/// Every key at its default.
const Config& standard_program_config();

/// Schema of the program: its table, the rules between keys and the presets.
const ConfigSchema& program_schema();

/// Throws UserError for keys that are set and that nothing reads (sim/config/reading.hpp). A file may serve several commands: an estimator
/// that `nudge gradcheck` or `nudge compare` would run reads its keys. The second function is for a training, which runs `estimator` and
/// train.beside alone.
void expect_keys_read(const Config& config);
void expect_training_reads(const Config& config);

/// Keys that were set, or that a sweep or comparison varies, and that no training of this config reads. Other commands may read them.
std::vector<std::string> idle_keys(const Config& config);

/// True if a training of this config reads the key. If false, another value of the key makes the same run.
bool training_reads(const Config& config, const std::string& key);

/// True if the kind of network reads the key, whatever else decides.
bool network_reads(const Config& config, const std::string& key);

/// Keys that the advice of a verdict on this config's states may name (mending_keys): those that a training of it reads. Of
/// the bandwidth of amplifiers it is the key that decides it.
std::vector<std::string> advisable_keys(const Config& config);

/// Throws UserError, a line each, for what [gradcheck] asks of a network that cannot do it. Other commands do not read it.
void expect_gradcheck(const Config& config);

/// Preset: its name and its purpose.
struct Preset {
  std::string name, doc, toml;
};
const std::vector<Preset>& program_presets();

/// Reads the config of a file and the values after --set. A network that begins with the weights of a run begins with its
/// damping (with_learnt_damping), unless a setting says another.
Config load_program_config(const std::string& path, const std::vector<std::string>& settings = {});

/// Reads a config from a text, such as the dump in an HDF5 file (to resume). `name` stands for the file in messages.
Config parse_program_config(const std::string& name, const std::string& text,
                            const std::vector<std::string>& settings = {});

}  // namespace nudge
