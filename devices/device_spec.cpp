// SPDX-License-Identifier: Apache-2.0
#include "devices/device_spec.hpp"

#include <fmt/format.h>

#include <cmath>

#include "devices/registry.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {

bool DeviceParameter::contains(double value) const {
  return (open_minimum ? value > minimum : value >= minimum) && (open_maximum ? value < maximum : value <= maximum);
}

std::string DeviceParameter::range_text() const {
  const bool has_maximum = std::isfinite(maximum);
  if (std::isfinite(minimum) && has_maximum) {
    return fmt::format("in {}{:g}, {:g}{}", open_minimum ? '(' : '[', minimum, maximum, open_maximum ? ')' : ']');
  }
  if (has_maximum) return fmt::format("{} {:g}", open_maximum ? "<" : "<=", maximum);
  if (std::isfinite(minimum)) return fmt::format("{} {:g}", open_minimum ? ">" : ">=", minimum);
  return "any number";
}

const std::vector<DeviceParameter>& device_parameters() {
  constexpr double none = std::numeric_limits<double>::infinity();
  const std::string ours = "chosen: 0 switches the effect off";
  const std::string spread = "form of IBM aihwkit's pulsed devices; default chosen: 0 switches the effect off";
  const DeviceSpec spec;
  static const std::vector<DeviceParameter> rows = {
      {"g_min", "S", 0, none, false, false, spec.g_min_S, "lower end of the conductance window",
       "g_max over an on/off ratio of 100, suggested for the PCM fit of Joshi et al., Nat. Commun. 11:2473 (2020), "
       "doi:10.1038/s41467-020-16108-9",
       &DeviceSpec::g_min_S},
      {"g_max", "S", 0, none, true, false, spec.g_max_S, "upper end of the conductance window",
       "1M-device PCM chip: Nandakumar et al., ICECS 2019 (IEEE 8964852)", &DeviceSpec::g_max_S},
      {"pulses", "1", 2, 1e9, false, false, spec.pulses, "mean-size pulses from bound to bound",
       "order of ECRAM and ReRAM: 1000 (Tang et al., IEDM 2018, IEEE 8614551)", &DeviceSpec::pulses},
      {"reference", "1", 0, 1, true, true, spec.reference,
       "place in the window where a pulse has its mean size: the w = 0 of the papers", "middle of the window",
       &DeviceSpec::reference},
      {"asymmetry", "1", -1, 1, true, true, spec.asymmetry,
       "a > 0: down pulses are 1 - a times the up pulses; a < 0: up pulses are 1 + a times the down pulses", spread,
       &DeviceSpec::asymmetry},
      {"step_spread", "1", 0, none, false, false, spec.step_spread,
       "device-to-device standard deviation of the pulse size, relative", spread, &DeviceSpec::step_spread},
      {"asymmetry_spread", "1", 0, none, false, false, spec.asymmetry_spread,
       "device-to-device standard deviation of what is added to up and taken from down pulses, relative to the pulse",
       spread, &DeviceSpec::asymmetry_spread},
      {"upper_bound_spread", "1", 0, none, false, false, spec.upper_bound_spread,
       "device-to-device standard deviation of the upper bound, relative to g_max - g_reference", spread,
       &DeviceSpec::upper_bound_spread},
      {"lower_bound_spread", "1", 0, none, false, false, spec.lower_bound_spread,
       "device-to-device standard deviation of the lower bound, relative to g_reference - g_min; bounds stay >= 0",
       spread, &DeviceSpec::lower_bound_spread},
      {"programming_error", "1", 0, none, false, false, spec.programming_error,
       "standard deviation of a programmed conductance, relative to g_max - g_min; drawn once per programming", ours,
       &DeviceSpec::programming_error},
      {"read_noise", "1", 0, none, false, false, spec.read_noise,
       "standard deviation of the fresh noise of a conductance in one read per sqrt(tau), relative to g_max - g_min",
       ours, &DeviceSpec::read_noise},
      {"update_noise", "1", 0, none, false, false, spec.update_noise,
       "cycle-to-cycle standard deviation of one pulse, relative to that pulse", spread, &DeviceSpec::update_noise},
      {"endurance", "1", 0, none, false, false, spec.endurance,
       "pulses after which a device counts as worn, in the log only; 0: not known", ours, &DeviceSpec::endurance},
  };
  return rows;
}

namespace {

void check(const DeviceParameter& row, double value) {
  if (std::isfinite(value) && row.contains(value)) return;
  throw UserError(fmt::format("device.{} = {:g} (must be a finite number {}, unit {}): {}", row.name, value,
                              row.range_text(), row.unit, row.doc));
}

}  // namespace

double DeviceSpec::shape_value(const std::string& name) const {
  const auto given = shape.find(name);
  if (given != shape.end()) return given->second;
  for (const DeviceParameter& row : device_model(model).shape) {
    if (row.name == name) return row.default_value;
  }
  throw ContractViolation("device model " + model + " has no parameter " + name);
}

void DeviceSpec::validate() const {
  const DeviceModel& described = device_model(model);
  for (const DeviceParameter& row : device_parameters()) check(row, this->*row.member);
  if (!(g_min_S < g_max_S)) {
    throw UserError(fmt::format("device.g_min = {:g} S (must be < device.g_max = {:g} S): lower g_min or raise g_max",
                                g_min_S, g_max_S));
  }
  std::vector<std::string> names;
  for (const DeviceParameter& row : described.shape) names.push_back(row.name);
  for (const auto& [name, value] : shape) {
    const DeviceParameter* found = nullptr;
    for (const DeviceParameter& row : described.shape) found = row.name == name ? &row : found;
    if (found == nullptr) {
      throw UserError("device.shape." + name + ": the model " + model + " has no such parameter: " +
                      (names.empty() ? "it has none of its own" : did_you_mean(name, names)));
    }
    check(*found, value);
  }
}

}  // namespace nudge
