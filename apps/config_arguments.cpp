// SPDX-License-Identifier: Apache-2.0
#include "apps/config_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/columns.hpp"
#include "apps/streams.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/toml_reader.hpp"
#include "training/config/config_table.hpp"
#include "training/config/hardware.hpp"
#include "training/config/rounding.hpp"

namespace nudge {

CLI::App* add_config_arguments(CLI::App& app, ConfigArguments& arguments) {
  app.add_option("CONFIG", arguments.file, "TOML file; `nudge config keys` lists the keys")->required();
  add_set_option(app, arguments.settings);
  return &app;
}

void add_set_option(CLI::App& app, std::vector<std::string>& settings, const char* help) {
  app.add_option("--set", settings, help)
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

double quantity_option(const std::string& option, const std::string& text, Unit unit) {
  const Quantity q = read_quantity(text, unit);
  if (!q.problem.empty()) throw UserError(fmt::format("{} \"{}\": {}", option, text, q.problem));
  return q.value;
}

void add_weights_option(CLI::App& app, std::vector<std::string>& settings) {
  app.add_option_function<std::string>(
         "--weights",
         [&settings](const std::string& file) { settings.push_back("model.weights=" + nudge::quoted(file)); },
         "Initial weights: .npz, .safetensors or HDF5 (a run file), each parameter by its name in /parameters")
      ->type_name("FILE");
}

std::string sections_text() {
  std::vector<std::string> sections;
  for (const ParamRow& row : program_table()) {
    const auto dot = row.key.find('.');
    if (dot == std::string::npos) continue;
    const std::string section = row.key.substr(0, dot);
    if (std::find(sections.begin(), sections.end(), section) == sections.end()) sections.push_back(section);
  }
  return fmt::format("Sections of a config: {}; `nudge config keys` explains every key.\n", fmt::join(sections, ", "));
}

std::string help_of(const CLI::App& app) {
  const std::size_t columns = terminal_columns(STDOUT_FILENO);
  return wrapped(app.help(), columns > 0 ? columns : usual_columns);
}

void warn_of_keys(const Config& config) {
  if (const auto idle = idle_keys(config); !idle.empty()) {
    say("nudge: warning: no effect while device.model = \"digital\": {}. Set device.preset or device.model\n",
        fmt::join(idle, ", "));
  }
  for (const std::string& warning : {rounding_warning(config), stale_pulses(config), power_alone(config)}) {
    if (!warning.empty()) say("nudge: warning: {}\n", warning);
  }
}

Config load_config(const ConfigArguments& arguments) { return load_program_config(arguments.file, arguments.settings); }

}  // namespace nudge
