// SPDX-License-Identifier: Apache-2.0
#include "devices/device_config.hpp"

#include <fmt/format.h>

#include "devices/presets.hpp"
#include "devices/registry.hpp"

namespace nudge {
namespace {

ParamRow row_of(const DeviceParameter& parameter, const std::string& section) {
  const Unit unit = parameter.unit == "S" ? Unit::siemens : Unit::none;
  const Range range = {parameter.minimum, parameter.maximum, parameter.open_minimum, parameter.open_maximum};
  return param::quantity(section + parameter.name, format_quantity(parameter.default_value, unit), unit, range,
                         parameter.doc, parameter.source);
}

}  // namespace

ParamTable device_param_rows() {
  std::vector<std::string> names = {digital_model};
  for (const DeviceModel& model : device_models()) names.push_back(model.name);
  ParamTable table = {
      param::choice("device.model", digital_model, names,
                    "What holds the weights: exact numbers, or a crossbar of these devices."),
      param::choice(
          "device.update", "continuous", {"continuous", "pulsed"},
          "Whether a requested change is a real number of mean pulses or is rounded at random to whole pulses.")};
  for (const DeviceParameter& parameter : device_parameters()) table.push_back(row_of(parameter, "device."));
  for (const DeviceModel& model : device_models()) {
    for (const DeviceParameter& parameter : model.shape) {
      table.push_back(row_of(parameter, "device." + model.name + "."));
    }
  }
  return table;
}

DeviceSpec device_spec(const Config& config) {
  DeviceSpec spec;
  spec.model = config.text("device.model");
  spec.update = config.text("device.update") == "pulsed" ? PulseMode::pulsed : PulseMode::continuous;
  for (const DeviceParameter& parameter : device_parameters()) {
    spec.*parameter.member = config.real("device." + parameter.name);
  }
  if (spec.model == digital_model) return spec;
  for (const DeviceParameter& parameter : device_model(spec.model).shape) {
    spec.shape[parameter.name] = config.real("device." + spec.model + "." + parameter.name);
  }
  return spec;
}

std::string device_preset_toml(const std::string& name) {
  const DeviceSpec& spec = device_preset(name).spec;
  std::string out = fmt::format("[device]\nmodel = '{}'\nupdate = '{}'\n", spec.model,
                                spec.update == PulseMode::pulsed ? "pulsed" : "continuous");
  for (const DeviceParameter& parameter : device_parameters()) {
    out += fmt::format("{} = {}\n", parameter.name, spec.*parameter.member);
  }
  if (spec.shape.empty()) return out;
  out += fmt::format("[device.{}]\n", spec.model);
  for (const auto& [key, value] : spec.shape) out += fmt::format("{} = {}\n", key, value);
  return out;
}

}  // namespace nudge
