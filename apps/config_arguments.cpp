// SPDX-License-Identifier: Apache-2.0
#include "apps/config_arguments.hpp"

#include <CLI/CLI.hpp>

#include "sim/config/toml_reader.hpp"
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

void add_weights_option(CLI::App& app, std::vector<std::string>& settings) {
  app.add_option_function<std::string>(
         "--weights",
         [&settings](const std::string& file) { settings.push_back("model.weights=" + nudge::quoted(file)); },
         "Weights to start from: .npz, .safetensors or HDF5 (a run file), each parameter by its name in /parameters")
      ->type_name("FILE");
}

Config load_config(const ConfigArguments& arguments) { return load_program_config(arguments.file, arguments.settings); }

}  // namespace nudge
