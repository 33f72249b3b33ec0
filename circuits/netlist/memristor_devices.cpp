// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/memristor_devices.hpp"

#include <fmt/format.h>

#include <fstream>
#include <optional>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "devices/device_config.hpp"
#include "devices/registry.hpp"
#include "sim/base/bounded_read.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "sim/config/config.hpp"
#include "sim/config/reading.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

const ConfigSchema& memristor_schema() {
  static const ConfigSchema schema = [] {
    ConfigSchema made{{device_preset_row()}, {}, {device_preset_key()}};
    add_rows(made.table, device_param_rows());
    add_rows(made.table, crossbar_section().rows());  // a device's file says the temperature of its circuit
    return made;
  }();
  return schema;
}

/// Device of a netlist in words: "preset ecram", "file dev.toml", "model vteam".
struct MemristorName {
  std::string kind, name;
};

/// Finds which device the settings name, and takes it from them.
MemristorName take_name(std::vector<DeviceSetting>& settings, const Place& place) {
  MemristorName found;
  std::erase_if(settings, [&](const DeviceSetting& one) {
    if (one.name != "preset" && one.name != "file" && one.name != "model") return false;
    found = {one.name, one.value};
    return true;
  });
  if (found.kind.empty()) {
    refuse(place,
           "a memristor without a device. Name one in its .model NAME MEMRISTOR (preset=NAME), with preset=, "
           "file= or model= (nudge devices list)");
  }
  return found;
}

std::string file_text(const std::string& name, const Place& place) {
  const std::filesystem::path path = std::filesystem::path(*place.file).parent_path() / name;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) refuse(place, fmt::format("file = {}: no such file", name));
  std::ifstream stream(path, std::ios::binary);
  return read_bounded(stream, path.string());
}

/// Key of the config that a setting stands for: device.NAME, or device.MODEL.NAME.
std::string device_key(const DeviceSetting& one, const std::string& model, const Place& place) {
  std::vector<std::string> names;
  for (const std::string& section : {std::string("device."), "device." + model + "."}) {
    for (const ParamRow& row : memristor_schema().table) {
      const std::string name = row.key.starts_with(section) ? row.key.substr(section.size()) : "";
      if (name.empty() || name.find('.') != std::string::npos) continue;
      if (name == one.name) return row.key;
      names.push_back(name);
    }
  }
  refuse(place, fmt::format("a memristor has no setting {} ({})", one.name, did_you_mean(one.name, names)));
}

constexpr char kOfCard[] = "card";  // name of the text that a card stands for

/// A message of the config without its place, which is the card's: "card:2:1: " or "--set: ".
std::string without_place(const std::string& what) {
  const bool of_text = what.starts_with(std::string(kOfCard) + ":");
  const std::size_t end = of_text || what.starts_with("--set: ") ? what.find(": ") : std::string::npos;
  return end == std::string::npos ? what : what.substr(end + 2);
}

void expect_resistor(const DeviceSpec& spec, const Place& place) {
  if (spec.selector.any())
    refuse(place, fmt::format("a memristor with selector = {} is not simulated (draw the selector as elements)",
                              selector_name(spec.selector.kind)));
  if (!spec.curve.linear()) refuse(place, "a memristor with iv_sinh or iv_cubic is not simulated (set both to 0)");
}

}  // namespace

DeviceSpec memristor_device(const std::vector<DeviceSetting>& given, const Place& place) {
  std::vector<DeviceSetting> settings = given;
  const MemristorName of = take_name(settings, place);
  const std::string text =
      of.kind == "file" ? file_text(of.name, place) : fmt::format("[device]\n{} = \"{}\"\n", of.kind, of.name);
  const std::string where = of.kind == "file" ? of.name : kOfCard;
  std::optional<DeviceSpec> spec;
  try {
    const std::string model = device_spec(parse_config(memristor_schema(), where, text)).model;
    std::vector<std::string> more;
    for (const DeviceSetting& one : settings) more.push_back(device_key(one, model, place) + "=" + one.value);
    spec = crossbar_spec(parse_config(memristor_schema(), where, text, more)).device;
    if (spec->model != digital_model) spec->validate();
  } catch (const UserError& error) {
    const std::string what = error.what();
    if (what.starts_with(to_string(place))) throw;
    refuse(place, without_place(what));
  }
  if (spec->model == digital_model) refuse(place, fmt::format("{} = {} names no device", of.kind, of.name));
  expect_resistor(*spec, place);
  return *spec;
}

MemristorSource device_memristors() {
  return [](const std::vector<DeviceSetting>& settings, const Place& place) {
    const DeviceSpec spec = memristor_device(settings, place);
    std::vector<DeviceSetting> all = settings;
    const MemristorName of = take_name(all, place);
    MemristorLaw law{of.kind + " " + of.name, device_toml(spec), spec.g_min_S, spec.g_max_S, spec.g_reference_S()};
    if (spec.temperature_K != DeviceSpec{}.temperature_K)
      law.settings += fmt::format("[circuit]\ntemperature = {}\n", spec.temperature_K);
    return law;
  };
}

Netlist read_device_netlist(const std::filesystem::path& file, const NetlistLimit& limit) {
  return read_netlist(file, limit, device_memristors());
}

}  // namespace nudge
