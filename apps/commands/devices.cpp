// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/devices.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "apps/streams.hpp"
#include "devices/catalogue.hpp"
#include "devices/characterize/characterize.hpp"
#include "devices/device_config.hpp"
#include "devices/fit/fit_pulses.hpp"
#include "devices/presets.hpp"
#include "devices/registry.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "sim/io/run_record.hpp"

namespace nudge {
namespace {

struct Options {
  std::string name, out, csv, model = "piecewise", interval = "1 ms";
  CharacterizeOptions measure;
  int points = 9;
  bool json = false;
};

/// The preset of that name, or the model with its defaults.
DeviceSpec spec_named(const std::string& name) {
  for (const DevicePreset& preset : device_presets()) {
    if (preset.name == name) return preset.spec;
  }
  DeviceSpec spec;
  for (const DeviceModel& model : device_models()) {
    if (model.name == name) spec.model = name;
  }
  if (spec.model != name) device_show_text(name);  // throws with the closest names
  return spec;
}

ExitCode characterize_command(Options options) {
  const auto start = std::chrono::steady_clock::now();
  const std::string started = now_utc();
  const Quantity interval = read_quantity(options.interval, Unit::second);
  if (!interval.problem.empty()) {
    throw UserError(fmt::format("devices characterize: --interval \"{}\": {}", options.interval, interval.problem));
  }
  options.measure.interval_s = interval.value;
  if (!options.out.empty()) check_output_path(options.out, Overwrite::must_not_exist);
  const DeviceSpec spec = spec_named(options.name);
  const Characterization c = characterize(spec, options.measure);
  if (!options.out.empty()) {
    H5Document file;
    write(file, c);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    RunRecord record;
    record.kind = "characterize";
    record.config = device_toml(spec);
    record.seed = static_cast<std::int64_t>(options.measure.seed);
    record.precision = "double";
    record.threads = 1;
    record.started = started;
    record.wall_time_s = wall.count();
    add_run_record(file, record);
    file.attribute("device", options.name);
    file.write(options.out, Overwrite::must_not_exist);
  }
  answer("{}", options.json ? summary_json(c, options.name) : summary_text(c, options.name));
  if (!options.out.empty() && !options.json) answer("  written: {}\n", options.out);
  return ExitCode::ok;
}

ExitCode fit_command(const Options& options) {
  if (!options.out.empty()) check_output_path(options.out, Overwrite::must_not_exist);
  const PulseFit fit = fit_pulses(read_pulse_csv(options.csv), options.model, options.points);
  const std::string toml = fit_toml(fit, options.csv);
  if (!options.out.empty()) {
    write_atomically(options.out, std::as_bytes(std::span(toml)), Overwrite::must_not_exist);
  }
  if (options.json) {
    const nlohmann::ordered_json out = {{"model", options.model},
                                        {"step_residual_pulses", fit.step_residual},
                                        {"curve_residual", fit.curve_residual},
                                        {"toml", toml}};
    answer("{}\n", out.dump(2));
    return ExitCode::ok;
  }
  if (options.out.empty()) {
    answer("{}", toml);
  } else {
    answer("{}: {}, step residual {:.4g} mean pulses, curve residual {:.4g} % of the window\n", options.out,
           options.model, fit.step_residual, 100 * fit.curve_residual);
  }
  return ExitCode::ok;
}

CLI::App* add_characterize(CLI::App& app, const std::shared_ptr<Options>& options) {
  CLI::App* sub = app.add_subcommand(
      "characterize", "Measure virtual devices: staircase, bounds, drift over decades, noise histogram and spectrum");
  sub->footer("Example: nudge devices characterize pcm --out pcm.h5");
  sub->add_option("NAME", options->name, "Model or preset")->required();
  sub->add_option("--out", options->out, "HDF5 file to write, which must not exist");
  sub->add_option("--devices", options->measure.devices, "Devices of each experiment")->capture_default_str();
  sub->add_option("--samples", options->measure.samples, "Looks of the noise record, each the mean of its interval")
      ->capture_default_str();
  sub->add_option("--interval", options->interval, "Time between two looks")->capture_default_str();
  sub->add_option("--points", options->measure.points, "Points of either branch of the staircase, at most")
      ->capture_default_str();
  sub->add_flag("--one-by-one", options->measure.one_by_one, "Send the pulses of the staircase one at a time");
  sub->add_option("--cycles", options->measure.cycles, "Cycles from bound to bound")->capture_default_str();
  sub->add_option("--seed", options->measure.seed, "Seed of the devices")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  sub->add_flag("--json", options->json, "Print JSON");
  return sub;
}

CLI::App* add_fit(CLI::App& app, const std::shared_ptr<Options>& options) {
  CLI::App* sub = app.add_subcommand(
      "fit", "Fit a model to measured pulses: CSV with the header pulse,conductance,direction (up, down)");
  sub->footer("Example: nudge devices fit pulses.csv --model linear_step --out device.toml");
  sub->add_option("CSV", options->csv, "One row per pulse, numbered one by one; conductance in S or with a unit")
      ->required();
  sub->add_option("--model", options->model, "soft_bounds, linear_step, exponential_step or piecewise")
      ->capture_default_str();
  sub->add_option("--points", options->points, "Points of the tables of piecewise")->capture_default_str();
  sub->add_option("--out", options->out, "Config with the sections of the device to write, which must not exist");
  sub->add_flag("--json", options->json, "Print JSON");
  return sub;
}

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
  CLI::App* measure = add_characterize(app, options);
  CLI::App* fit = add_fit(app, options);
  return [=, &app] {
    if (measure->parsed()) return characterize_command(*options);
    if (fit->parsed()) return fit_command(*options);
    if (show->parsed()) {
      answer("{}", options->json ? device_show_json(options->name) : device_show_text(options->name));
    } else if (list->parsed() || options->json) {
      answer("{}", options->json ? device_list_json() : device_list_text());
    } else {
      answer("{}", app.help());
    }
    return ExitCode::ok;
  };
}

}  // namespace

Command devices_command() {
  return {"devices", "List, show, measure and fit device models", "nudge devices characterize pcm --out pcm.h5", add};
}

}  // namespace nudge
