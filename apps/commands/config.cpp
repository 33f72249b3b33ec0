// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "apps/config_arguments.hpp"
#include "apps/streams.hpp"
#include "sim/config/reference.hpp"
#include "training/config/config_table.hpp"
#include "training/config/idle_keys.hpp"

namespace nudge {
namespace {

/// Says that the config is fine and where it leaves the defaults; warns of keys of devices that are not there.
ExitCode check(const ConfigArguments& arguments) {
  const Config config = load_config(arguments);
  const auto changes = difference(standard_program_config(), config);
  answer("{}: ok, {} of {} keys differ from the defaults\n", arguments.file, changes.size(), config.keys().size());
  for (const ConfigDifference& change : changes) {
    answer("  {} = {} (default {}; {})\n", change.key, change.second, change.first.empty() ? "empty" : change.first,
           config.origin(change.key).where);
  }
  if (const auto idle = idle_device_keys(config); !idle.empty()) {
    say("nudge: warning: {}: no effect while device.model = \"digital\": {} (set device.model or device.preset)\n",
        arguments.file, fmt::join(idle, ", "));
  }
  return ExitCode::ok;
}

ExitCode dump(const ConfigArguments& arguments, bool bare) {
  answer("{}", dump_toml(load_config(arguments), bare ? DumpComments::none : DumpComments::documented));
  return ExitCode::ok;
}

ExitCode print_presets() {
  for (const Preset& preset : program_presets()) {
    answer("# {}: {}\n{}\n", preset.name, preset.doc, preset.toml);
  }
  return ExitCode::ok;
}

CLI::App* add_subcommand(CLI::App& app, const std::string& name, const std::string& description,
                         const std::string& example) {
  CLI::App* sub = app.add_subcommand(name, description);
  sub->footer("Example: " + example);
  return sub;
}

struct ConfigOptions {
  ConfigArguments check, dump;
  bool bare = false;
  bool help_keys = false;
};

std::function<ExitCode()> add_config(CLI::App& app) {
  const auto options = std::make_shared<ConfigOptions>();
  app.require_subcommand(0, 1);
  app.add_flag("--help-keys", options->help_keys, "Print every key with its default, values and meaning");

  const CLI::App* check_app =
      add_config_arguments(*add_subcommand(app, "check", "Check a config and report every mistake at once",
                                           "nudge config check run.toml --set train.steps=500"),
                           options->check);
  CLI::App* dump_app = add_config_arguments(
      *add_subcommand(app, "dump", "Print every resolved value as TOML", "nudge config dump run.toml > resolved.toml"),
      options->dump);
  dump_app->add_flag("--bare", options->bare, "Leave out the comments");
  const CLI::App* keys_app = add_subcommand(app, "keys", "Print the reference of all keys as Markdown",
                                            "nudge config keys > docs/configuration.md");
  const CLI::App* presets_app =
      add_subcommand(app, "presets", "List the presets and their values", "nudge config presets");

  return [=, &app] {
    if (options->help_keys) {
      answer("{}", help_text(program_table()));
      return ExitCode::ok;
    }
    if (check_app->parsed()) return check(options->check);
    if (dump_app->parsed()) return dump(options->dump, options->bare);
    if (presets_app->parsed()) return print_presets();
    answer("{}", keys_app->parsed() ? describe_table(program_table()) : app.help());
    return ExitCode::ok;
  };
}

}  // namespace

Command config_command() {
  return {"config", "Check a config, print its resolved values, or list every key", "nudge config check run.toml",
          add_config};
}

}  // namespace nudge
