// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/devices.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "devices/catalogue.hpp"

namespace nudge {
namespace {

struct Options {
  std::string name;
  bool json = false;
};

std::function<ExitCode()> add(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.require_subcommand(0, 1);
  app.add_flag("--json", options->json, "Print JSON");
  CLI::App* list = app.add_subcommand("list", "List all device models and presets");
  list->footer("Example: nudge devices list");
  list->add_flag("--json", options->json, "Print JSON");
  CLI::App* show = app.add_subcommand("show", "Show one model or preset: equation, parameters, source, limits");
  show->footer("Example: nudge devices show soft_bounds");
  show->add_option("NAME", options->name, "Model or preset")->required();
  show->add_flag("--json", options->json, "Print JSON");
  return [=, &app] {
    if (show->parsed()) {
      fmt::print("{}", options->json ? device_show_json(options->name) : device_show_text(options->name));
    } else if (list->parsed() || options->json) {
      fmt::print("{}", options->json ? device_list_json() : device_list_text());
    } else {
      fmt::print("{}", app.help());
    }
    return ExitCode::ok;
  };
}

}  // namespace

Command devices_command() {
  return {"devices", "List and show device models and presets", "nudge devices show soft_bounds", add};
}

}  // namespace nudge
