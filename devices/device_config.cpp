// SPDX-License-Identifier: Apache-2.0
#include "devices/device_config.hpp"

#include <fmt/format.h>

#include "devices/own_device.hpp"
#include "devices/presets.hpp"
#include "devices/registry.hpp"
#include "sim/config/reading.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

const Choices<PulseMode> pulse_modes{{"continuous", PulseMode::continuous}, {"pulsed", PulseMode::pulsed}};
const Choices<EnduranceFailure> endurance_failures{{"none", EnduranceFailure::none},
                                                   {"stuck", EnduranceFailure::stuck}};

const Choices<SelectorKind> selectors{{"none", SelectorKind::none},
                                      {"transistor", SelectorKind::transistor},
                                      {"exponential", SelectorKind::exponential},
                                      {"threshold", SelectorKind::threshold}};

Unit unit_of(const std::string& symbol) {
  for (const Unit unit : {Unit::siemens, Unit::second, Unit::volt, Unit::kelvin, Unit::ohm, Unit::ampere}) {
    if (symbol == unit_symbol(unit)) return unit;
  }
  return Unit::none;
}

ParamRow row_of(const DeviceParameter& parameter, const std::string& section) {
  const Unit unit = unit_of(parameter.unit);
  const Range range = {parameter.minimum, parameter.maximum, parameter.open_minimum, parameter.open_maximum};
  ParamRow row = param::quantity(section + parameter.name, format_quantity(parameter.default_value, unit), unit, range,
                                 parameter.doc, parameter.source);
  for (const Condition& condition : parameter.when) row = read_with(condition, std::move(row));
  return row;
}

ParamRow row_of(const DeviceList& list, const std::string& section) {
  ParamRow row = param::reals(section + list.name, "[]", any_number(), list.doc, list.source);
  row.unit = unit_of(list.unit);
  return row;
}

std::string toml_list(const std::vector<double>& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

}  // namespace

ParamTable device_param_rows() {
  std::vector<std::string> names = {digital_model};
  for (const DeviceModel& model : device_models()) names.push_back(model.name);
  names.emplace_back(own_device_name);
  ParamTable table = {
      param::choice("device.model", digital_model, names,
                    "What holds the weights: exact numbers, or a crossbar of these devices."),
      param::choice(
          "device.update", "continuous", pulse_modes.names(),
          "Whether a requested change is a real number of mean pulses or is rounded at random to whole pulses."),
      read_with(above_zero("device.endurance"),
                param::choice("device.endurance_failure", "none", endurance_failures.names(),
                              "What becomes of a device after as many pulses as it lasts (device.endurance): it is "
                              "counted as worn, or it also stays where it is for good.")),
      param::choice(
          "device.selector", "none", selectors.names(),
          "What stands in series with a device in its cell: a transistor, a resistance where it is on; an exponential "
          "selector, I = I0 sinh(V/V0); or one that insulates below a threshold. Models with volts (vteam, yakopcic) "
          "are "
          "written through it, all devices are read through it.")};
  for (const DeviceParameter& parameter : device_parameters()) table.push_back(row_of(parameter, "device."));
  for (const DeviceList& list : device_lists()) table.push_back(row_of(list, "device."));
  for (const DeviceModel& model : device_models()) {
    const Condition chosen_model = chosen("device.model", {model.name});
    for (const DeviceParameter& parameter : model.shape) {
      table.push_back(read_with(chosen_model, row_of(parameter, "device." + model.name + ".")));
    }
    for (const DeviceList& list : model.tables) {
      table.push_back(read_with(chosen_model, row_of(list, "device." + model.name + ".")));
    }
  }
  return table;
}

Condition with_devices() { return {"device.model", on_devices, "a model of devices"}; }

bool on_devices(const Config& config) { return config.text("device.model") != digital_model; }

DeviceSpec device_spec(const Config& config) {
  DeviceSpec spec;
  spec.model = config.text("device.model");
  spec.update = pulse_modes.of(config, "device.update");
  spec.endurance_failure = endurance_failures.of(config, "device.endurance_failure");
  spec.selector.kind = selectors.of(config, "device.selector");
  for (const DeviceParameter& parameter : device_parameters()) {
    parameter.field(spec) = config.real("device." + parameter.name);
  }
  for (const DeviceList& list : device_lists()) list.field(spec) = config.reals("device." + list.name);
  if (spec.model == digital_model) return spec;
  for (const DeviceParameter& parameter : device_model(spec.model).shape) {
    spec.shape[parameter.name] = config.real("device." + spec.model + "." + parameter.name);
  }
  for (const DeviceList& list : device_model(spec.model).tables) {
    const std::vector<double>& values = config.reals("device." + spec.model + "." + list.name);
    if (!values.empty()) spec.tables[list.name] = values;
  }
  return spec;
}

std::string device_toml(const DeviceSpec& spec) {
  const DeviceSpec standard;
  std::string out =
      fmt::format("[device]\nmodel = '{}'\nupdate = '{}'\n", spec.model, pulse_modes.name_of(spec.update));
  if (spec.endurance_failure == EnduranceFailure::stuck) out += "endurance_failure = 'stuck'\n";
  if (spec.selector.any()) out += fmt::format("selector = '{}'\n", selectors.name_of(spec.selector.kind));
  for (const DeviceParameter& parameter : device_parameters()) {
    if (parameter.value(spec) != parameter.value(standard)) {
      out += fmt::format("{} = {}\n", parameter.name, parameter.value(spec));
    }
  }
  for (const DeviceList& list : device_lists()) {
    if (!list.value(spec).empty()) out += fmt::format("{} = {}\n", list.name, toml_list(list.value(spec)));
  }
  if (spec.shape.empty() && spec.tables.empty()) return out;
  out += fmt::format("[device.{}]\n", spec.model);
  for (const auto& [key, value] : spec.shape) out += fmt::format("{} = {}\n", key, value);
  for (const auto& [key, values] : spec.tables) out += fmt::format("{} = {}\n", key, toml_list(values));
  return out;
}

std::string device_preset_toml(const std::string& name) { return device_toml(device_preset(name).spec); }

}  // namespace nudge
