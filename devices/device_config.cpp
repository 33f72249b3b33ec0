// SPDX-License-Identifier: Apache-2.0
#include "devices/device_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "devices/own_device.hpp"
#include "devices/presets.hpp"
#include "devices/registry.hpp"
#include "devices/stochastic_bit.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"
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
                    "Device model of the weights. digital: floating-point weights. Others: a crossbar of these "
                    "devices."),
      param::choice("device.update", "continuous", pulse_modes.names(),
                    "Requested changes as a real number of mean pulses, or rounded at random to whole pulses."),
      read_with(above_zero("device.endurance"),
                param::choice("device.endurance_failure", "none", endurance_failures.names(),
                              "Effect of the end of life (device.endurance). none: the device is counted as worn. "
                              "stuck: it also stays at its conductance.")),
      param::choice(
          "device.selector", "none", selectors.names(),
          "Element in series with a device in its cell. transistor: a resistance when on. exponential: I = I0 "
          "sinh(V/V0). threshold: insulates below a threshold. All devices are read through it; models with volts "
          "(vteam, yakopcic) are also written through it.")};
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
  // A model that holds at one temperature is at it; a circuit then says its own, and the model's check compares.
  if (const auto own = spec.shape.find("temperature"); own != spec.shape.end() && own->second > 0) {
    spec.temperature_K = own->second;
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

ParamRow device_preset_row() {
  std::vector<std::string> names = {""};
  for (const DevicePreset& preset : device_presets()) names.push_back(preset.name);
  return param::choice("device.preset", "", names,
                       "Published device to start from; keys of [device] in the config replace its "
                       "values. `nudge devices show NAME` prints it. Empty: none.");
}

PresetKey device_preset_key() {
  return {"device.preset", [](const std::string& name) {
            const auto& all = device_presets();
            const bool known = std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
            return known ? device_preset_toml(name) : std::string();
          }};
}

namespace {

using Json = nlohmann::ordered_json;

const char* mode_name(PulseMode mode) { return mode == PulseMode::pulsed ? "pulsed" : "continuous"; }

Json parameter_json(const DeviceParameter& row, double value) {
  return {{"name", row.name},
          {"unit", row.unit},
          {"range", row.range_text()},
          {"value", value},
          {"default", row.default_value},
          {"doc", row.doc},
          {"source", row.source}};
}

Json model_fields(const DeviceModel& model) {
  return {{"equation", model.equation},
          {"source", model.source},
          {"limits", model.limits},
          {"not_modelled", model.not_modelled}};
}

Json parameters_json(const DeviceModel& model, const DeviceSpec& spec) {
  Json rows = Json::array();
  for (const DeviceParameter& row : device_parameters()) rows.push_back(parameter_json(row, row.value(spec)));
  for (const DeviceParameter& row : model.shape) rows.push_back(parameter_json(row, spec.shape_value(row.name)));
  const auto list_json = [](const DeviceList& row, const std::vector<double>& value) -> Json {
    return {{"name", row.name},         {"unit", row.unit}, {"range", "list of numbers"}, {"value", value},
            {"default", Json::array()}, {"doc", row.doc},   {"source", row.source}};
  };
  for (const DeviceList& row : device_lists()) rows.push_back(list_json(row, row.value(spec)));
  for (const DeviceList& row : model.tables) rows.push_back(list_json(row, spec.table(row.name)));
  return rows;
}

/// Text of the measured record of a preset, and of the preset beside it.
std::string record_text(const DevicePreset& preset) {
  if (!preset.record) return "none that may be shipped";
  const PresetRecord& r = *preset.record;
  return fmt::format(
      "devices/records/{}: {}; {}; {}. The mean device under the same pulses is {:.2g} % (up) and {:.2g} % (down) of "
      "the "
      "window off it, root mean square",
      r.file, r.what, r.origin, r.licence, 100 * r.rms_up, 100 * r.rms_down);
}

Json describe(const std::string& name) {
  std::vector<std::string> names;
  for (const DeviceModel& model : device_models()) {
    names.push_back(model.name);
    if (model.name != name) continue;
    Json out = {{"name", model.name}, {"kind", "model"}, {"summary", model.summary}};
    out.update(model_fields(model));
    DeviceSpec spec;
    spec.model = name;
    out["parameters"] = parameters_json(model, spec);
    return out;
  }
  for (const DevicePreset& preset : device_presets()) {
    names.push_back(preset.name);
    if (preset.name != name) continue;
    const DeviceModel& model = device_model(preset.spec.model);
    Json out = {{"name", preset.name},
                {"kind", "preset"},
                {"summary", preset.summary},
                {"citation", preset.citation},
                {"note", preset.note},
                {"measured", aspects_text(preset.measured)},
                {"not_measured", aspects_text(preset.not_measured())},
                {"record", record_text(preset)},
                {"model", preset.spec.model},
                {"update", mode_name(preset.spec.update)}};
    out.update(model_fields(model));
    out["parameters"] = parameters_json(model, preset.spec);
    return out;
  }
  const DeviceModel& bit = stochastic_bit_description();
  names.push_back(bit.name);
  if (bit.name == name) {
    Json out = {{"name", bit.name}, {"kind", "sampler"}, {"summary", bit.summary}};
    out.update(model_fields(bit));
    out["parameters"] = Json::array();
    for (const DeviceParameter& row : bit.shape) out["parameters"].push_back(parameter_json(row, row.default_value));
    return out;
  }
  throw UserError("device \"" + name + "\" is neither a model nor a preset: " + did_you_mean(name, names));
}

}  // namespace

std::string device_list_text() {
  std::string out = "Device models (device.model = NAME)\n";
  for (const DeviceModel& model : device_models()) out += fmt::format("  {:<22} {}\n", model.name, model.summary);
  out += "Presets (published devices)\n";
  for (const DevicePreset& preset : device_presets()) {
    out += fmt::format("  {:<22} {} [{}]{}\n", preset.name, preset.summary, preset.spec.model,
                       preset.record ? " (with its record)" : "");
  }
  const DeviceModel& bit = stochastic_bit_description();
  out += fmt::format("Samplers (used from code)\n  {:<22} {}\n", bit.name, bit.summary);
  return out;
}

std::string device_list_json() {
  Json out = {{"models", Json::array()}, {"presets", Json::array()}, {"samplers", Json::array()}};
  for (const DeviceModel& model : device_models()) {
    out["models"].push_back({{"name", model.name}, {"summary", model.summary}});
  }
  for (const DevicePreset& preset : device_presets()) {
    out["presets"].push_back({{"name", preset.name},
                              {"model", preset.spec.model},
                              {"summary", preset.summary},
                              {"not_measured", aspects_text(preset.not_measured())},
                              {"record", preset.record ? preset.record->file : ""}});
  }
  const DeviceModel& bit = stochastic_bit_description();
  out["samplers"].push_back({{"name", bit.name}, {"summary", bit.summary}});
  return json_text(out, 2) + "\n";
}

std::string device_show_text(const std::string& name) {
  const Json device = describe(name);
  std::string out =
      fmt::format("{} ({}): {}\n", name, device["kind"].get<std::string>(), device["summary"].get<std::string>());
  for (const auto& [key, value] : device.items()) {
    if (key == "name" || key == "kind" || key == "summary" || key == "parameters") continue;
    out += fmt::format("  {:<13} {}\n", key, value.get<std::string>());
  }
  out += fmt::format("\n  {:<22} {:>12} {:<4}  {:<14} {}\n", "parameter", "value", "unit", "range", "meaning");
  for (const Json& row : device["parameters"]) {
    const Json& value = row["value"];
    out += fmt::format("  {:<22} {:>12} {:<4}  {:<14} {}\n", row["name"].get<std::string>(),
                       value.is_array() ? json_text(value) : fmt::format("{:g}", value.get<double>()),
                       row["unit"].get<std::string>(), row["range"].get<std::string>(), row["doc"].get<std::string>());
    if (device["kind"] != "preset")
      out += fmt::format("  {:>39}  default from: {}\n", "", row["source"].get<std::string>());
  }
  return out;
}

std::string device_show_json(const std::string& name) { return json_text(describe(name), 2) + "\n"; }

}  // namespace nudge
