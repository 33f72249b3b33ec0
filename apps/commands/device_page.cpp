// SPDX-License-Identifier: Apache-2.0
// Pages of `nudge devices show`.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include <nlohmann/json.hpp>

#include "apps/columns.hpp"
#include "apps/commands/device_fits.hpp"
#include "apps/commands/text_lines.hpp"
#include "devices/device_config.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

/// Text of a number with the unit of this symbol: "1.91 uS", "1000".
std::string with_prefix(double value, const std::string& symbol) {
  for (int k = 0; k <= static_cast<int>(Unit::metre); ++k) {
    if (unit_symbol(static_cast<Unit>(k)) == symbol) return format_quantity(value, static_cast<Unit>(k), 4);
  }
  return fmt::format("{:.4g} {}", value, symbol);
}

/// Text of a preset: where it is from, and the parameters that differ from the defaults of its model.
std::string preset_text(const nlohmann::ordered_json& device) {
  const auto text = [&device](const char* field) { return device[field].get<std::string>(); };
  std::string out = fmt::format("{} (preset): {}\n", text("name"), text("summary"));
  for (const char* field : {"citation", "note", "measured", "not_measured", "record", "model", "update", "equation",
                            "limits", "not_modelled"})
    out += fmt::format("  {:<13} {}\n", field, text(field));
  std::vector<std::vector<std::string>> rows{{"  parameter", "value", "default", "meaning"}};
  std::size_t same = 0;
  for (const auto& row : device["parameters"]) {
    if (row["value"] == row["default"]) {
      ++same;
      continue;
    }
    const std::string unit = row["unit"].get<std::string>();
    const auto shown = [&](const nlohmann::ordered_json& value) {
      return value.is_array() ? fmt::format("{} numbers", value.size()) : with_prefix(value.get<double>(), unit);
    };
    rows.push_back({"  " + row["name"].get<std::string>(), shown(row["value"]), shown(row["default"]),
                    row["doc"].get<std::string>()});
  }
  out += "\n" + text_table(rows, rows.front().size());
  return out + fmt::format("{} more parameters have their defaults: --all\n", same);
}

}  // namespace

std::string device_page(const std::string& name, bool all) {
  const std::size_t terminal = terminal_columns(STDOUT_FILENO);
  const auto device = nlohmann::ordered_json::parse(device_show_json(name));
  const bool short_form = device["kind"] == "preset" && !all;
  return wrapped(short_form ? preset_text(device) : device_show_text(name), terminal > 0 ? terminal : usual_columns);
}

CLI::App* add_import(CLI::App& app, const std::shared_ptr<ImportOptions>& options) {
  CLI::App* sub = app.add_subcommand(
      "import",
      "Make a device of a Verilog-A model: tables of its current and speed (needs the Python package openvaf-py)");
  sub->footer("Example: nudge devices import model.va --volts \"-1.5 V,1.5 V\" --out device.toml");
  sub->add_option("FILE", options->file, "Verilog-A source of a device with two terminals and one state")->required();
  sub->add_option("--module", options->module, "Module, where the file has several");
  sub->add_option(
      "--state", options->state,
      "Node that is the state, or the parameter that the state begins with, of a model that moves it itself");
  sub->add_option("--states", options->states, "Smallest and largest state")->capture_default_str();
  sub->add_option("--volts", options->volts, "Lowest and highest voltage; those of its pulses too")
      ->capture_default_str();
  sub->add_option("--points", options->points, "Voltages")->check(CLI::Range(3, 1001))->capture_default_str();
  sub->add_option("--levels", options->levels, "States")->check(CLI::Range(3, 1001))->capture_default_str();
  sub->add_option("--read", options->read, "Voltage at which conductances are read")->capture_default_str();
  sub->add_option("--width", options->width, "Width of its pulses")->capture_default_str();
  sub->add_option("--temperature", options->temperature,
                  "Temperature of the device ($temperature of the model), which circuit.temperature has to be in a run")
      ->capture_default_str();
  sub->add_option("--parameter", options->parameters, "NAME=VALUE of the model, may be given several times")
      ->allow_extra_args(false);
  sub->add_option("--step", options->step, "Step of a model that moves its state itself")->capture_default_str();
  sub->add_option("--python", options->python, "Interpreter that has openvaf-py")->capture_default_str();
  sub->add_option("--wait", options->wait_s, "Seconds that it may say nothing: to compile the model, and for a voltage")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sub->add_option("--out", options->out, "Config to write, which must not exist; without it to standard output");
  sub->add_flag("--json", options->json, "Print JSON");
  return sub;
}

}  // namespace nudge
