// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "apps/commands/text_lines.hpp"
#include "apps/config_arguments.hpp"
#include "apps/streams.hpp"
#include "devices/device_config.hpp"
#include "sim/config/param_table.hpp"
#include "training/check/choices.hpp"
#include "training/check/gradient_forecast.hpp"
#include "training/compare/compare.hpp"
#include "training/config/config_table.hpp"
#include "training/config/run_parts.hpp"
#include "training/config/set_by.hpp"
#include "training/data/data_options.hpp"
#include "training/data/samples.hpp"
#include "training/sweep/sweep_grid.hpp"

namespace nudge {
namespace {

bool changes_section(const std::vector<ConfigDifference>& changes, const std::string& section) {
  return std::any_of(changes.begin(), changes.end(),
                     [&section](const ConfigDifference& change) { return section_of(change.key) == section; });
}

/// Returns a key that names data which is not on this machine; empty: all is here.
std::string missing_data(const Config& config) {
  for (const char* key : {"data.text", "data.file", "data.test_file"}) {
    const std::string& name = config.text(key);
    if (name.empty() || std::filesystem::exists(name)) continue;
    const NamedData* set = std::string_view(key) == "data.file" ? named_data(name) : nullptr;
    if (set == nullptr || !set->is_here(data_options(config).folder)) return key;
  }
  return "";
}

/// Says how far the gradient of the first batch is from the exact one, what of the circuit makes it so, and what makes the noise.
void tell_forecast(const Config& config, const RunParts& parts) {
  const GradientForecast forecast = forecast_gradient(config, parts, LookAt::quick_parts);
  answer("{}\n", forecast_text(forecast));
  if (warns(forecast)) say("nudge: warning: the cosine of the gradient is below {}\n", fair_cosine);
  if (const std::string noise = noise_text(forecast); !noise.empty()) answer("{}\n", noise);
  check_placed(config, [&forecast](const Config& c) { check_forecast(c, forecast); });
}

/// Config with what is left to the arrays and the first batch of a circuit. Says how its gradient will be, and what is wrong with it.
Config circuit_choices(const Config& config, const RunParts& parts) {
  if (const std::string fast = bandwidth_warning(config, parts); !fast.empty()) say("nudge: warning: {}\n", fast);
  const Config placed = chosen_circuit(config, parts);
  const NudgeChoice nudge = chosen_nudge(placed, parts);
  if (nudge.measured()) answer("{}\n", nudge_text(placed, nudge));
  if (const std::string low = nudge_warning(placed, nudge); !low.empty()) say("nudge: warning: {}\n", low);
  check_placed(placed, [&nudge](const Config& c) { check_nudge(c, nudge); });
  Config chosen = with_nudge(placed, nudge);
  if (is_forecast(placed)) tell_forecast(chosen, parts);
  return chosen;
}

/// Checks what the commands that take the config check when they begin: its data and network, the points of its sweep
/// and of its comparison. Without the data, checks what does not need it. Returns the values that the user did not set.
std::vector<GivenValue> begin(const ConfigArguments& arguments, const Config& config,
                              const std::vector<ConfigDifference>& changes) {
  if (changes_section(changes, "gradcheck")) {
    check_placed(config, expect_gradcheck);
  } else if (!changes_section(changes, "compare")) {
    expect_training_reads(config);
  }
  if (const std::string key = missing_data(config); !key.empty()) {
    if (key == "data.file" && named_data(config.text(key)) != nullptr) {
      say("nudge: warning: the files of data.file = \"{}\" are not here (data.folder), so they were not checked\n",
          config.text(key));
      return given_values(config);
    }
    say("nudge: warning: {} = \"{}\": no such file (relative to the working directory), so its contents were not "
        "checked\n",
        key, config.text(key));
    return given_values(config);
  }
  const RunParts parts = run_parts(config, Work::learns);
  const Config chosen = parts.plan == nullptr ? config : circuit_choices(config, parts);
  const bool sweeps = changes_section(changes, "sweep");
  if (sweeps) make_sweep_grid(read_config_source(arguments.file, arguments.settings));
  if (!config.grid("compare.grid").empty()) read_protocol(config, arguments.file);
  if (sweeps || changes_section(changes, "compare"))
    return study_given(read_config_source(arguments.file, arguments.settings));
  return given_values(config, chosen, &parts);
}

/// Prints that the config is fine and where it leaves the defaults; warns of keys of devices that are not there.
ExitCode check(const ConfigArguments& arguments) {
  const Config config = load_config(arguments);
  const auto changes = difference(standard_program_config(), config);
  const std::vector<GivenValue> given = begin(arguments, config, changes);
  answer("{}: ok, {} of {} keys differ from the defaults\n", arguments.file, changes.size(), config.keys().size());
  for (const ConfigDifference& change : changes) {
    answer("  {} = {} (default {}; {})\n", change.key, change.second, change.first.empty() ? "empty" : change.first,
           set_by(config, change.key));
  }
  answer("{}", auto_text(given));
  warn_of_keys(config);
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

  const CLI::App* check_app = add_config_arguments(
      *add_subcommand(app, "check",
                      "Check a config, its data and the points of its sweep; report every mistake at once",
                      "nudge config check examples/digits.toml --set train.steps=500"),
      options->check);
  CLI::App* dump_app = add_config_arguments(*add_subcommand(app, "dump", "Print every resolved value as TOML",
                                                            "nudge config dump examples/digits.toml > resolved.toml"),
                                            options->dump);
  dump_app->add_flag("--bare", options->bare, "Leave out the comments");
  const CLI::App* keys_app =
      add_subcommand(app, "keys", "Print the reference of all keys as Markdown", "nudge config keys > keys.md");
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
    answer("{}", keys_app->parsed() ? describe_table(program_table()) : help_of(app));
    return ExitCode::ok;
  };
}

}  // namespace

Command config_command() {
  return {"config", "Check a config, print its resolved values, or list every key",
          "nudge config check examples/digits.toml", add_config};
}

}  // namespace nudge
