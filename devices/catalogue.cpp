// SPDX-License-Identifier: Apache-2.0
#include "devices/device_config.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "devices/presets.hpp"
#include "devices/registry.hpp"
#include "devices/stochastic_bit.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {
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
    out += fmt::format("  {:<22} {} [{}]\n", preset.name, preset.summary, preset.spec.model);
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
    out["presets"].push_back({{"name", preset.name}, {"model", preset.spec.model}, {"summary", preset.summary}});
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
