// SPDX-License-Identifier: Apache-2.0
#include "apps/config_arguments.hpp"

#include <CLI/CLI.hpp>

#include "training/config/config_table.hpp"

namespace nudge {

CLI::App* add_config_arguments(CLI::App& app, ConfigArguments& arguments) {
  app.add_option("CONFIG", arguments.file, "TOML file; docs/configuration.md lists the keys")->required();
  app.add_option("--set", arguments.settings,
                 "Set a key after reading the file: --set train.steps=500 (may be repeated)")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return &app;
}

Config load_config(const ConfigArguments& arguments) { return load_program_config(arguments.file, arguments.settings); }

}  // namespace nudge
