// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/config/config.hpp"

namespace nudge {

/// A rule between keys. `broken` returns what is wrong about keys.front(), or an empty text. It is reported at the most
/// specific place (latest layer) that set one of the keys, and not at all when one of them has a problem of its own.
struct ConfigRule {
  std::vector<std::string> keys;
  std::function<std::string(const Config&)> broken;
};

/// A check of what several keys make together, run when each key and every rule holds. Throws UserError with a text that
/// names keys, or axes of a grid, in full ("device.pulses = 1e8 (must be ...)"), a line for each problem; it is reported at the most
/// specific place that set one of them.
using ConfigCheck = std::function<void(const Config&)>;

/// A text key of the table whose value, when not empty, names a preset: `text` gives its TOML, or throws UserError.
struct PresetKey {
  std::string key;
  std::function<std::string(const std::string& name)> text;
};

/// Everything a configuration is checked against. Presets are taken in order, before the file; one may name the next.
struct ConfigSchema {
  ParamTable table;
  std::vector<ConfigRule> rules = {};
  std::vector<PresetKey> presets = {};
  std::vector<ConfigCheck> checks = {};
  /// Values that follow from all that presets, text and settings ask for, as TOML; they stand below all of these. `derived_name` says
  /// where they are from.
  std::function<std::string(const Config& asked)> derived = {};
  std::string derived_name = {};
  /// Config(table), where it is kept: what a long table costs to read is then paid once.
  std::function<const Config&()> standard = {};
};

/// Defaults < derived values < preset < text < settings ("key=value", what follows --set). All problems are thrown at once in one
/// UserError, a line each: "name:line:column: key = value (rule)". Used with a dump to resume a checkpoint.
Config parse_config(const ConfigSchema& schema, const std::string& name, const std::string& text,
                    const std::vector<std::string>& settings = {});

/// The same for a file.
Config load_config(const ConfigSchema& schema, const std::string& path, const std::vector<std::string>& settings = {});

/// Runs a check on a configuration that was read: its UserError has each line placed, as the checks of a schema have.
void check_placed(const Config& config, const ConfigCheck& check);

/// Every broken rule as "where: key = value (rule)"; for configurations changed by set_from_text (sweeps).
std::vector<std::string> broken_rules(const ConfigSchema& schema, const Config& config);

}  // namespace nudge
