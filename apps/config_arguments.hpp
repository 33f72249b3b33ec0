// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/config/config.hpp"

namespace CLI {
class App;
}

namespace nudge {

/// Arguments CONFIG and --set, which every command that takes a config shares.
struct ConfigArguments {
  std::string file;
  std::vector<std::string> settings;  ///< key=value, in the order given
};

/// Declares CONFIG (required) and --set on the app, and returns it. The arguments must outlive the parsing.
CLI::App* add_config_arguments(CLI::App& app, ConfigArguments& arguments);

/// Declares --set KEY=VALUE, which may be repeated.
void add_set_option(CLI::App& app, std::vector<std::string>& settings,
                    const char* help =
                        "Set a key after reading the file, as in --set train.steps=500 (may be "
                        "repeated)");

/// Reads the value of an option; UserError that begins with `option`, "devices fit: --rate".
double quantity_option(const std::string& option, const std::string& text, Unit unit);

/// Declares --weights FILE, which stands for --set model.weights=FILE behind the other settings.
void add_weights_option(CLI::App& app, std::vector<std::string>& settings);

/// Text of the sections that a config may have, in the order of the reference, for the end of a help text.
std::string sections_text();

/// Help of the command that was asked for, wrapped to the terminal behind standard output, or the usual width.
std::string help_of(const CLI::App& app);

/// Warns of keys without an effect (idle_keys()), where rounding takes a part of what the nudge measures
/// (training/config/rounding.hpp), of stale_pulses() and power_alone().
void warn_of_keys(const Config& config);

/// Loads the resolved config; UserError with every problem.
Config load_config(const ConfigArguments& arguments);

}  // namespace nudge
