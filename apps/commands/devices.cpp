// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands/device_fits.hpp"
#include "apps/commands/fit_answers.hpp"
#include "apps/commands/wait_line.hpp"
#include "apps/config_arguments.hpp"
#include "apps/streams.hpp"
#include "circuits/spice/exports.hpp"
#include "devices/characterize/characterize.hpp"
#include "devices/device_config.hpp"
#include "devices/fit/fit_pulses.hpp"
#include "devices/fit/pulse_law.hpp"
#include "devices/presets.hpp"
#include "devices/registry.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/run_record.hpp"
#include "training/config/config_table.hpp"

namespace nudge {
namespace {

struct DevicesOptions {
  std::string pulses = "100 up, 100 down";
  std::vector<std::string> names;  ///< of characterize: NAME, or two files
  std::string name, out, model = "piecewise", interval = "1 ms", window, read_voltage, rate, activation, columns,
                         read_time;
  std::vector<std::string> settings, csv;
  CharacterizeOptions measure;
  int points = 9;
  double seconds = 0;
  bool json = false, all = false, relaxation = false, noise = false, bake = false, iv = false, endurance = false,
       disturb = false;
};

/// Device to measure, and the laboratory's record that it was fitted to, if any.
struct Subject {
  DeviceSpec spec;
  PulseRecord measured = {};
  std::vector<double> replayed = {};  ///< record of the same pulses, sent to the device fitted to them
  TableLook look = {};                ///< what was read in its files
};

/// True of the name of a file of measurements.
bool is_table_name(std::string name) {
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  const std::vector<std::string> ends = {".csv", ".tsv", ".txt", ".dat"};
  return std::any_of(ends.begin(), ends.end(), [&](const std::string& end) { return name.ends_with(end); });
}

bool is_preset(const std::string& name) {
  const auto& presets = device_presets();
  return std::any_of(presets.begin(), presets.end(), [&](const DevicePreset& p) { return p.name == name; });
}

CsvScale csv_scale(const DevicesOptions& options) {
  CsvScale scale;
  if (!options.read_voltage.empty()) {
    scale.read_voltage_V = quantity_option("devices: --read-voltage", options.read_voltage, Unit::volt);
    if (scale.read_voltage_V == 0) throw UserError("devices: --read-voltage must not be 0 V");
  }
  if (options.window.empty()) return scale;
  const std::size_t comma = options.window.find(',');
  if (comma == std::string::npos) {
    throw UserError(fmt::format("devices: --window \"{}\" (two conductances are needed, for example \"1 uS,25 uS\")",
                                options.window));
  }
  scale.low_S = quantity_option("devices: --window", options.window.substr(0, comma), Unit::siemens);
  scale.high_S = quantity_option("devices: --window", options.window.substr(comma + 1), Unit::siemens);
  if (!(scale.low_S >= 0 && scale.low_S < scale.high_S && std::isfinite(scale.high_S))) {
    throw UserError(fmt::format("devices: --window \"{}\" (must be 0 <= low < high)", options.window));
  }
  return scale;
}

/// Device fitted to files of measured pulses, read as `devices fit` reads them; then --set is applied.
Subject measured_subject(const DevicesOptions& options) {
  TableLook look{options.columns};
  const std::vector<std::string> files = options.names.empty() ? std::vector{options.name} : options.names;
  const std::string all = fmt::format("{}", fmt::join(files, ", "));
  return while_fitting("fitting pulses", [&] {
    return read_and_tell(look, [&] {
      const std::vector<LabRecord> records = read_lab_files(files, csv_scale(options), &look);
      const PopulationFit fit = fit_population(records, options.model, options.points);
      const PulseRecord& first = records.front().pulses;
      return Subject{device_spec(parse_program_config(all, fit_toml(fit, all), options.settings)), first,
                     replay(fit.each.front().fit.spec, first), look};
    });
  });
}

/// Finds the device NAME: a preset, a model with its defaults, the [device] of a config (*.toml), or a fit to measured
/// pulses (*.csv, *.tsv, *.txt, *.dat, .gz too, or any other file that is there); then applies --set.
Subject subject_named(const DevicesOptions& options) {
  const std::string& name = options.name;
  const auto& models = device_models();
  const bool is_model = std::any_of(models.begin(), models.end(), [&](const DeviceModel& m) { return m.name == name; });
  const bool known = is_model || is_preset(name) || name.ends_with(".toml");
  if (is_table_name(name) || (!known && std::filesystem::is_regular_file(name))) return measured_subject(options);
  if (options.names.size() > 1) {
    throw UserError(fmt::format(
        "devices characterize: {} is not a file of measurements. Give one name, or two files: LTP and LTD, or "
        "CrossSim's SET and RESET",
        name));
  }
  if (name.ends_with(".toml")) {
    const Config config = load_program_config(name, options.settings);
    if (!on_devices(config)) {
      throw UserError(
          fmt::format("{}: device.model = \"digital\" (not a device). Set device.model or device.preset", name));
    }
    return {device_spec(config)};
  }
  if (!known) device_show_text(name);  // throws with the closest names
  const std::string toml = fmt::format("[device]\n{} = \"{}\"\n", is_preset(name) ? "preset" : "model", name);
  return {device_spec(parse_program_config(name, toml, options.settings))};
}

void write_measured(H5Document& file, const Subject& subject) {
  const PulseRecord& record = subject.measured;
  if (record.pulses() == 0) return;
  std::vector<double> pulse;
  pulse.reserve(record.conductance_S.size());
  for (std::size_t i = 0; i < record.conductance_S.size(); ++i) pulse.push_back(static_cast<double>(i));
  file.group("measured", "the laboratory's record that the device was fitted to");
  file.column("measured/pulse", pulse, {"1", "pulses sent so far", {"point"}});
  file.column("measured/conductance", record.conductance_S, {"S", "conductance after them", {"point"}});
  file.column("measured/replayed", subject.replayed,
              {"S", "conductance of the fitted device, without noise, after the same pulses", {"point"}});
}

ExitCode spice_command(const DevicesOptions& options) {
  const std::string text = pulse_netlist(subject_named(options).spec, read_pulse_blocks(options.pulses));
  if (options.out.empty()) {
    answer("{}", text);
    return ExitCode::ok;
  }
  write_atomically(options.out, std::as_bytes(std::span(text)), Overwrite::must_not_exist);
  answer("{}: run it with ngspice -b {}\n", options.out, options.out);
  return ExitCode::ok;
}

ExitCode characterize_command(DevicesOptions options) {
  options.name = options.names.front();
  const auto start = std::chrono::steady_clock::now();
  const std::string started = now_utc();
  options.measure.interval_s = quantity_option("devices characterize: --interval", options.interval, Unit::second);
  if (!options.out.empty()) check_output_path(options.out, Overwrite::must_not_exist);
  const Subject subject = subject_named(options);
  const Characterization c = characterize(subject.spec, options.measure);
  if (!options.out.empty()) {
    H5Document file;
    write(file, c);
    write_measured(file, subject);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    const auto seed = static_cast<std::int64_t>(options.measure.seed);
    add_run_record(file, {"characterize", device_toml(subject.spec), seed, "double", 1, started, wall.count()});
    file.attribute("device", options.name);
    file.write(options.out, Overwrite::must_not_exist);
  }
  if (options.json && !subject.look.understood.empty()) {
    auto all = nlohmann::ordered_json::parse(summary_json(c, options.name));
    all["understood"] = understood_json(subject.look);
    answer("{}\n", json_text(all, 2));
  } else {
    answer("{}", options.json ? summary_json(c, options.name)
                              : understood_text(subject.look) + summary_text(c, options.name));
  }
  if (!options.out.empty() && !options.json) answer("  written: {}\n", options.out);
  return ExitCode::ok;
}

ExitCode fit_command(const DevicesOptions& options, bool model_given) {
  const int of_table = int{options.relaxation} + int{options.noise} + int{options.bake} + int{options.iv} +
                       int{options.endurance} + int{options.disturb};
  if (of_table > 1) {
    throw UserError("devices fit: one of --relaxation, --noise, --bake, --iv, --endurance and --disturb");
  }
  if (!options.read_time.empty() && !options.disturb) {
    throw UserError("devices fit: --read-time is for --disturb only. Leave it out");
  }
  if (options.seconds != 0 && !(options.seconds > 0 && options.seconds < 1e9)) {
    throw UserError(fmt::format("devices fit: --seconds {:g} (must be above 0, at most 1e9)", options.seconds));
  }
  if (options.seconds != 0 && of_table > 0) {
    throw UserError("devices fit: --seconds bounds fits of pulses only. Leave it out");
  }
  if (!options.read_voltage.empty() && (options.iv || options.endurance)) {
    throw UserError("devices fit: --read-voltage is not for --iv and --endurance. Leave it out");
  }
  const CsvScale scale = csv_scale(options);
  const TableFitOptions table{options.csv,
                              options.out,
                              options.rate,
                              options.activation,
                              options.columns,
                              options.json,
                              model_given ? options.model : "auto",
                              options.read_time,
                              scale.low_S,
                              scale.high_S,
                              scale.read_voltage_V};
  if (options.iv) return fit_iv_table(table);
  if (options.endurance) return fit_endurance_table(table);
  if (options.disturb) return fit_disturb_table(table);
  if (options.relaxation) return fit_relaxation_table(table);
  if (options.noise) return fit_noise_table(table);
  if (options.bake) return fit_bake_table(table);
  return fit_pulse_files(
      {options.csv, scale, options.columns, options.model, options.out, options.points, options.seconds, options.json});
}

constexpr const char* kWindowHelp =
    "What the smallest and largest number of a file of two columns without units stand for: \"1 uS,25 uS\"; of "
    "--disturb the window of the device";

constexpr const char* kColumnsHelp =
    "What columns hold, where their names do not tell: \"g=COL3 uS,time=COL1 ms\" (names or COLn)";
constexpr const char* kReadVoltageHelp =
    "Voltage at which currents were read: of a column current, of columns LTP and LTD, or of SET.csv and RESET.csv";

CLI::App* add_characterize(CLI::App& app, const std::shared_ptr<DevicesOptions>& options) {
  CLI::App* sub = app.add_subcommand(
      "characterize", "Measure virtual devices: staircase, bounds, drift over decades, noise histogram and spectrum");
  sub->footer("Example: nudge devices characterize pcm --out pcm.h5");
  sub->add_option("NAME", options->names,
                  "Preset, model, config (.toml, its [device]), or measured pulses (.csv, fitted first; two files as "
                  "for devices fit)")
      ->required()
      ->expected(1, 2);
  sub->add_option("--set", options->settings, "device.KEY=VALUE, may be given several times")->allow_extra_args(false);
  sub->add_option("--model", options->model, "Model that measured pulses are fitted to")->capture_default_str();
  sub->add_option("--window", options->window, kWindowHelp);
  sub->add_option("--columns", options->columns, kColumnsHelp);
  sub->add_option("--read-voltage", options->read_voltage, kReadVoltageHelp);
  sub->add_option("--out", options->out, "HDF5 file to write, which must not exist; nudge report draws it");
  sub->add_option("--devices", options->measure.devices, "Devices of each experiment")->capture_default_str();
  sub->add_option("--samples", options->measure.samples, "Looks of the noise record, each the mean of its interval")
      ->capture_default_str();
  sub->add_option("--interval", options->interval, "Time between two looks")->capture_default_str();
  sub->add_option("--points", options->measure.points, "Points of either branch of the staircase, at most")
      ->capture_default_str();
  sub->add_option("--record", options->measure.record,
                  "Pulses up, and pulses down, of the record of dynamic range and nonlinearity; 0: device.pulses")
      ->capture_default_str();
  sub->add_flag("--one-by-one", options->measure.one_by_one, "Send the pulses of the staircase one at a time");
  sub->add_option("--cycles", options->measure.cycles, "Cycles from bound to bound")->capture_default_str();
  sub->add_option("--seed", options->measure.seed, "Seed of the devices")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  sub->add_flag("--json", options->json, "Print JSON");
  return sub;
}

CLI::App* add_spice(CLI::App& app, const std::shared_ptr<DevicesOptions>& options) {
  CLI::App* sub = app.add_subcommand(
      "spice", "Write the mean device as a subcircuit for ngspice that moves under pulses, and a train of them");
  sub->footer("Example: nudge devices spice ecram --pulses \"100 up, 50 down\" --out ecram.cir");
  sub->add_option("NAME", options->name,
                  "Preset, model, config (.toml, its [device]), or a file of measured pulses (fitted first)")
      ->required();
  sub->add_option("--set", options->settings, "device.KEY=VALUE, may be given several times")->allow_extra_args(false);
  sub->add_option("--pulses", options->pulses, "Blocks of pulses; the conductance is printed behind each")
      ->capture_default_str();
  sub->add_option("--out", options->out, "Netlist to write, which must not exist; without it to standard output");
  return sub;
}

CLI::App* add_fit(CLI::App& app, const std::shared_ptr<DevicesOptions>& options) {
  CLI::App* sub = app.add_subcommand(
      "fit",
      "Fit a model to measured pulses: CSV with the header pulse,conductance,direction (up, down). Columns device and "
      "cycle give a population; voltage and width are of pulses that differ. Also read: aihwkit's two columns (after "
      "pulses up, after pulses down), LTP and LTD as records or files, and CrossSim's set.csv and reset.csv");
  sub->footer("Example: nudge devices fit pulses.csv --model linear_step --out device.toml");
  sub->add_option("CSV", options->csv,
                  "One row per pulse, numbered one by one; conductance in S or with a unit. Two files: LTP.csv "
                  "LTD.csv, or CrossSim's SET.csv RESET.csv")
      ->required()
      ->expected(1, 2);
  sub->add_option("--window", options->window, kWindowHelp);
  sub->add_option("--columns", options->columns, kColumnsHelp);
  sub->add_option("--read-voltage", options->read_voltage, kReadVoltageHelp);
  sub->add_flag(
      "--relaxation", options->relaxation,
      "The file is a table of cells after programming (.gz too): columns cell, time, conductance and, if known, "
      "start, level, nominal. It fits what time does to them (docs/reference/retention.md)");
  sub->add_flag(
      "--noise", options->noise,
      "The file has successive reads of cells (.gz too): columns time, conductance and, if known, cell, level; or "
      "rows of a level, an offset and its reads. It fits white, 1/f^a and telegraph noise over level");
  sub->add_option(
      "--rate", options->rate,
      "Reads per second of such rows, \"400 Hz\" if not given; of --iv: rows per second of sweeps without times");
  sub->add_flag(
      "--bake", options->bake,
      "The file is a table of cells after times at temperatures (.gz too): columns cell, time, conductance, "
      "temperature_C or temperature_K and, if known, start, level. A second file may have the same cells at 300 K. "
      "It fits relaxation with an activation energy");
  sub->add_flag(
      "--iv", options->iv,
      "The file has I-V sweeps (.gz too): columns voltage, current and, if known, time, device, cycle. It finds set "
      "and reset voltages, on/off ratio and curvature of the read, and fits vteam or yakopcic");
  sub->add_flag(
      "--endurance", options->endurance,
      "The file is a table of both states after numbers of cycles (.gz too): columns cycle (or pulse), LRS and "
      "HRS (or g_on, g_off) and, if known, device. It finds how many pulses devices last, and drifts");
  sub->add_flag(
      "--disturb", options->disturb,
      "The file has readings of cells that are only read (.gz too): columns reads (how often before) or time (under "
      "the read voltage), conductance and, if known, cell. It fits read_disturb_time and, with --window, its target");
  sub->add_option("--read-time", options->read_time, "How long one read of --disturb lasts, \"100 ns\"");
  sub->add_option("--activation", options->activation, "Activation energy of --bake if it is known, \"1.2 eV\"");
  sub->add_option("--model", options->model,
                  "soft_bounds, linear_step, constant_step, power_step, label_curve, exponential_step, piecewise, of "
                  "pulses with volts vteam and yakopcic; auto: the least of Akaike's criterion")
      ->capture_default_str();
  sub->add_option("--points", options->points, "Points of the tables of piecewise")->capture_default_str();
  sub->add_option("--seconds", options->seconds,
                  "Longest time for the fit of pulses and its intervals. A fit that is there by then is printed "
                  "without intervals");
  sub->add_option("--out", options->out, "Config with the sections of the device to write, which must not exist");
  sub->add_flag("--json", options->json, "Print JSON");
  return sub;
}

std::function<ExitCode()> add_devices(CLI::App& app) {
  const auto options = std::make_shared<DevicesOptions>();
  const auto imported = std::make_shared<ImportOptions>();
  app.require_subcommand(0, 1);
  app.add_flag("--json", options->json, "Print JSON");
  CLI::App* list = app.add_subcommand("list", "List all device models and presets");
  list->footer("Example: nudge devices list");
  list->add_flag("--json", options->json, "Print JSON");
  CLI::App* show = app.add_subcommand("show", "Show one model or preset: equation, parameters, source, limits");
  show->footer("Example: nudge devices show soft_bounds");
  show->add_option("NAME", options->name, "Model or preset")->required();
  show->add_flag("--all", options->all, "Of a preset: all parameters, those with their defaults too");
  show->add_flag("--json", options->json, "Print JSON");
  CLI::App* measure = add_characterize(app, options);
  CLI::App* fit = add_fit(app, options);
  CLI::App* spice = add_spice(app, options);
  CLI::App* from_model = add_import(app, imported);
  return [=, &app] {
    if (from_model->parsed()) return import_model(*imported);
    if (spice->parsed()) return spice_command(*options);
    if (measure->parsed()) return characterize_command(*options);
    if (fit->parsed()) return fit_command(*options, fit->count("--model") > 0);
    if (show->parsed()) {
      answer("{}", options->json ? device_show_json(options->name) : device_page(options->name, options->all));
    } else if (list->parsed() || options->json) {
      answer("{}", options->json ? device_list_json() : device_list_text());
    } else {
      answer("{}", help_of(app));
    }
    return ExitCode::ok;
  };
}

}  // namespace

Command devices_command() {
  return {"devices", "List, show, measure and fit device models", "nudge devices characterize pcm --out pcm.h5",
          add_devices};
}

}  // namespace nudge
