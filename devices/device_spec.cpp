// SPDX-License-Identifier: Apache-2.0
#include "devices/device_spec.hpp"

#include <fmt/format.h>

#include "devices/registry.hpp"
#include "devices/slow/relaxation_law.hpp"
#include "devices/spreads.hpp"
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

namespace {

void check_lists(const DeviceSpec& spec) {
  for (const DeviceList& row : device_lists()) {
    const char* problem = "";
    const bool is_fit = row.name != "programming_fit" && row.name != "joint_covariance" &&
                        !row.name.starts_with("relaxation_") && !row.name.starts_with("noise_");
    if (is_fit) problem = StateFit{row.value(spec)}.problem();
    for (double x : row.value(spec)) {
      if (!std::isfinite(x)) problem = "must be finite numbers";
    }
    if (*problem != 0) throw UserError(fmt::format("device.{} {}: {}", row.name, problem, row.doc));
  }
}

void check_noise(const DeviceSpec& s) {
  const char* problem = s.noise.problem();
  if (*problem != 0) {
    throw UserError(fmt::format("device.{} (nudge devices fit FILE --noise writes these lists)", problem));
  }
  if (s.noise.has_flicker() && s.flicker.active()) {
    throw UserError(
        "device.noise_flicker together with device.flicker_noise or device.flicker_fit: each sets the size of 1/f "
        "noise. Give one of them");
  }
  if (s.noise.has_traps() && s.telegraph.amplitude > 0) {
    throw UserError(
        "device.noise_trap together with device.telegraph_amplitude: each sets the size of telegraph noise. Give "
        "one of them");
  }
}

void check_relaxation(const DeviceSpec& s) {
  const RelaxationSpec& r = s.relaxation;
  if (r.level_S.empty() && r.time_s.empty() && r.spread_S.empty() && r.mean_S.empty() && r.jump_S.empty() &&
      r.volatility.empty() && r.skew.empty()) {
    return;
  }
  const char* problem = r.time_s.empty()    ? "relaxation_time is empty, other tables of relaxation are not"
                        : r.level_S.empty() ? "relaxation_level is empty, other tables of relaxation are not"
                                            : relaxation_problem(r);
  if (*problem != 0) {
    throw UserError(fmt::format("device.{} (nudge devices fit FILE --relaxation writes the tables)", problem));
  }
  if (s.retention.drifts() || s.retention.decays() || s.retention.leaks() || s.retention.disturbs()) {
    throw UserError(
        "device.relaxation_time together with drift_, decay_, leak_ or read_disturb_ keys: both describe the effect "
        "of time. Give one of them");
  }
}

// Rules that join several numbers.
void check_together(const DeviceSpec& s) {
  if (!(s.g_min_S < s.g_max_S)) {
    throw UserError(fmt::format("device.g_min = {:g} S (must be < device.g_max = {:g} S): lower g_min or raise g_max",
                                s.g_min_S, s.g_max_S));
  }
  // A float holds about 24 bits: a pulse below four units in the last place of g_max would be lost or badly rounded.
  const double most = 0.25 * s.window_S() / (s.g_max_S * 0x1p-24);
  if (s.pulses > most) {
    throw UserError(fmt::format(
        "device.pulses = {:g} (must be <= {:.3g} for device.g_min = {:g} S and device.g_max = {:g} S): one pulse "
        "would be below the resolution of a conductance. Use fewer pulses, or a wider window",
        s.pulses, most, s.g_min_S, s.g_max_S));
  }
  if (s.levels != 0 && !(s.levels >= 2 && s.levels == std::floor(s.levels))) {
    throw UserError(fmt::format(
        "device.levels = {:g} (must be 0, or a whole number from 2 on: conductances from g_min to g_max)", s.levels));
  }
  if (s.faults.low + s.faults.high + s.faults.random > 1) {
    throw UserError(fmt::format(
        "device.stuck_low + device.stuck_high + device.stuck_random = {:g} (must be <= 1): shares of devices",
        s.faults.low + s.faults.high + s.faults.random));
  }
  if (s.endurance_failure == EnduranceFailure::stuck && s.endurance == 0) {
    throw UserError(
        "device.endurance_failure = stuck (must be none while device.endurance = 0): set device.endurance, or leave "
        "failures out");
  }
  const double ratio = s.flicker.slowest_s / s.flicker.fastest_s;
  if ((s.flicker.active() || s.noise.has_flicker()) && !(ratio >= 1 && ratio <= 1e20)) {
    throw UserError(
        fmt::format("device.flicker_slowest = {:g} s (must be 1 to 1e20 times device.flicker_fastest = {:g} s)",
                    s.flicker.slowest_s, s.flicker.fastest_s));
  }
}

// What stands in series with a device, and what its neighbours see of its pulses.
void check_cell(const DeviceSpec& s) {
  if (s.selector.any() && !s.curve.linear()) {
    throw UserError(fmt::format(
        "device.selector = {} together with device.iv_sinh or device.iv_cubic: such a cell has no closed current "
        "curve. Leave one of them out",
        selector_name(s.selector.kind)));
  }
  if (s.lines.bias == WriteBias::isolated) return;
  if (device_model(s.model).memristor == nullptr) {
    throw UserError(
        fmt::format("crossbar.write_bias = {} with device.model = {}: its pulses have no volts, so the effect of a "
                    "part of the voltage is unknown. Use vteam or yakopcic, or leave the bias isolated",
                    s.lines.bias == WriteBias::half ? "half" : "third", s.model));
  }
  if (s.selector.kind == SelectorKind::transistor) {
    throw UserError(
        "crossbar.write_bias together with device.selector = transistor: cells with the gate off see no voltage. "
        "Leave the bias isolated");
  }
}

void check(const DeviceParameter& row, double value) {
  if (std::isfinite(value) && row.contains(value)) return;
  throw UserError(fmt::format("device.{} = {:g} (must be a finite number {}, unit {}): {}", row.name, value,
                              row.range_text(), row.unit, row.doc));
}

}  // namespace

double heat_acceleration(DeviceSpec spec, double temperature_K) {
  spec.temperature_K = temperature_K;
  if (spec.relaxation.active()) return spec.relaxation.acceleration(temperature_K);
  const DeviceModel& model = device_model(spec.model);
  return model.acceleration == nullptr ? 1 : model.acceleration(spec);
}

double DeviceSpec::shape_value(const std::string& name) const {
  const auto given = shape.find(name);
  if (given != shape.end()) return given->second;
  for (const DeviceParameter& row : device_model(model).shape) {
    if (row.name == name) return row.default_value;
  }
  throw ContractViolation("device model " + model + " has no parameter " + name);
}

std::vector<double> DeviceSpec::table(const std::string& name) const {
  const auto given = tables.find(name);
  return given == tables.end() ? std::vector<double>{} : given->second;
}

void DeviceSpec::validate() const {
  const DeviceModel& described = device_model(model);
  for (const DeviceParameter& row : device_parameters()) check(row, row.value(*this));
  check_lists(*this);
  check_together(*this);
  check_relaxation(*this);
  check_noise(*this);
  check_joint(*this);
  std::vector<std::string> names;
  names.reserve(described.shape.size());
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
  names.clear();
  for (const DeviceList& row : described.tables) names.push_back(row.name);
  for (const auto& entry : tables) {
    if (std::find(names.begin(), names.end(), entry.first) == names.end()) {
      throw UserError("device.tables." + entry.first + ": the model " + model + " has no such list: " +
                      (names.empty() ? "it has none of its own" : did_you_mean(entry.first, names)));
    }
  }
  check_cell(*this);
  if (described.check != nullptr) described.check(*this);
}

}  // namespace nudge
