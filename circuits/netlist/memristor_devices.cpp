// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/memristor_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/wires/solvers.hpp"
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

/// Curve of a device, straight or not, or of a straight one behind a selector.
class CellConductor final : public ConductorLaw {
 public:
  explicit CellConductor(const CellLaw& law) : law_(law) {}

  Point at(double siemens, double volts) const override {
    const double slope = law_.slope(siemens, volts);
    if (!law_.selector.any()) {
      const double unit = law_.curve.current(volts);
      return {siemens * unit, slope, unit};
    }
    const double amperes = law_.current(siemens, volts);
    return {amperes, slope, siemens > 0 ? amperes / siemens * (slope / siemens) : volts};
  }

  Energy energy(double siemens, double volts) const override {
    const SelectorSpec& selector = law_.selector;
    if (!selector.any()) {
      const double unit = curve_energy(volts);
      return {siemens * unit, unit};
    }
    const double amperes = law_.current(siemens, volts), own = siemens > 0 ? amperes / siemens : volts;
    if (selector.kind != SelectorKind::exponential) return {amperes * volts / 2, own * own / 2};
    const double i0 = selector.current_A, below = std::hypot(amperes, i0) - i0;  // √(I² + I₀²) − I₀
    const double co_energy = amperes * own / 2 + selector.voltage_V * (amperes * std::asinh(amperes / i0) - below);
    return {amperes * volts - co_energy, own * own / 2};
  }

  /// Holds back a step into a steep part. The current takes the step along its tangent, and the voltage is at most that of this current.
  double limited(double next, double last) const override {
    constexpr double kSteeper = 2;  // slopes beyond which the tangent misleads
    const CurrentCurve& curve = law_.curve;
    if (law_.selector.any() || std::abs(next) <= std::abs(last)) return next;
    if (curve.slope(next) <= kSteeper * curve.slope(last)) return next;
    const double target = std::abs(curve.current(last) + curve.slope(last) * (next - last));
    double most = std::abs(next);
    if (curve.sinh_V > 0) most = std::min(most, curve.sinh_V * std::asinh(target / curve.sinh_V));
    if (curve.cubic_per_V2 > 0) most = std::min(most, std::cbrt(target / curve.cubic_per_V2));
    return std::copysign(most, next);
  }

  std::string cards(const std::string& name, const std::string& plus, const std::string& minus,
                    double siemens) const override {
    const auto between = [](const std::string& a, const std::string& b) {
      return b == "0" ? fmt::format("v({})", a) : fmt::format("v({},{})", a, b);
    };
    const CurrentCurve& curve = law_.curve;
    const SelectorSpec& selector = law_.selector;
    if (!selector.any()) {
      const std::string v = between(plus, minus);
      const std::string odd = curve.sinh_V > 0 ? fmt::format("{0}*sinh({1}/{0})", curve.sinh_V, v) : v;
      return fmt::format("b_{} {} {} i={}*({}+{}*{}*{}*{})\n", name, plus, minus, siemens, odd, curve.cubic_per_V2, v,
                         v, v);
    }
    const std::string inner = name + "#cell", device = fmt::format("r_{} {} {} {}\n", name, plus, inner, 1 / siemens);
    if (selector.kind != SelectorKind::exponential)
      return device + fmt::format("r_{}#sel {} {} {}\n", name, inner, minus, selector.on_ohm);
    return device + fmt::format("b_{} {} {} i={}*sinh({}/{})\n", name, inner, minus, selector.current_A,
                                between(inner, minus), selector.voltage_V);
  }

 private:
  /// ∫₀ᵛ of current over conductance.
  double curve_energy(double volts) const {
    const double sinh_V = law_.curve.sinh_V, square = volts * volts;
    const double half = sinh_V > 0 ? std::sinh(volts / (2 * sinh_V)) : 0;  // cosh x − 1 = 2 sinh²(x/2)
    const double odd = sinh_V > 0 ? 2 * sinh_V * sinh_V * half * half : square / 2;
    return odd + law_.curve.cubic_per_V2 * square * square / 4;
  }

  CellLaw law_;
};

void expect_no_jump(const DeviceSpec& spec, const Place& place) {
  if (spec.selector.kind != SelectorKind::threshold) return;
  refuse(place,
         "the current of a memristor with selector = threshold jumps, which has no operating point near it. Take "
         "selector = exponential, or draw it: two switches S in series with the memristor, one for each sign");
}

}  // namespace

std::shared_ptr<const ConductorLaw> conductor_law(const DeviceSpec& device) {
  if (device.curve.linear() && !device.selector.any()) return nullptr;
  return std::make_shared<const CellConductor>(CellLaw(device.curve, device.selector));
}

void set_memristor_curves(Netlist& netlist, const DeviceSpec& device) {
  const std::shared_ptr<const ConductorLaw> curve = conductor_law(device);
  for (Element& e : netlist.elements) {
    if (!e.memristor) continue;
    auto law = std::make_shared<MemristorLaw>(*e.memristor);
    law->curve = curve;
    e.memristor = std::move(law);
    e.kind = curve ? ElementKind::curved_resistor : ElementKind::resistor;
  }
}

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
  expect_no_jump(*spec, place);
  return *spec;
}

DeviceSpec device_of(const MemristorLaw& law) {
  return crossbar_spec(parse_config(memristor_schema(), kOfCard, law.settings)).device;
}

MemristorSource device_memristors() {
  return [](const std::vector<DeviceSetting>& settings, const Place& place) {
    const DeviceSpec spec = memristor_device(settings, place);
    std::vector<DeviceSetting> all = settings;
    const MemristorName of = take_name(all, place);
    MemristorLaw law{of.kind + " " + of.name, device_toml(spec),  spec.g_min_S, spec.g_max_S,
                     spec.g_reference_S(),    conductor_law(spec)};
    if (spec.temperature_K != DeviceSpec{}.temperature_K)
      law.settings += fmt::format("[circuit]\ntemperature = {}\n", spec.temperature_K);
    return law;
  };
}

Netlist read_device_netlist(const std::filesystem::path& file, const NetlistLimit& limit) {
  return read_netlist(file, limit, device_memristors());
}

}  // namespace nudge
