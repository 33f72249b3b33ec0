// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "devices/fit/pulse_law.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/statistics.hpp"

namespace nudge {
namespace {

double share(double x) { return 1 / (1 + std::exp(-x)); }
double power(double x) { return std::exp(std::min(x, std::log(10.0))); }

/// Pulses of one direction: sizes of their volts, their widths, and the number of them behind one another.
struct VoltSide {
  std::vector<double> volts, widths;
  std::size_t longest_run = 1;

  std::size_t amplitudes() const { return std::set<double>(volts.begin(), volts.end()).size(); }
  double highest() const { return *std::max_element(volts.begin(), volts.end()); }
  double lowest() const { return *std::min_element(volts.begin(), volts.end()); }
};

VoltSide side_of(const std::vector<PulseRecord>& records, Direction direction) {
  VoltSide side;
  for (const PulseRecord& record : records) {
    std::size_t run = 0;
    for (std::size_t i = 1; i < record.direction.size(); ++i) {
      run = record.direction[i] == direction ? run + 1 : 0;
      side.longest_run = std::max(side.longest_run, run);
      if (run == 0) continue;
      side.volts.push_back(std::abs(record.volts[i]));
      side.widths.push_back(record.width_s[i]);
    }
  }
  return side;
}

/// Speed, 1/s, that takes a device through 4 windows in a run of pulses.
double typical_speed(const VoltSide& side) {
  return 4 / (static_cast<double>(side.longest_run) * upper_median(side.widths));
}

struct Adder {
  FitNumbers& out;
  const DeviceSpec& first;
  /// Adds a number with its name and unit. value: from its coordinate; start, second: coordinates where the two searches begin.
  void add(const std::string& name, const std::string& unit, std::function<double(double)> value, double start,
           double second) const {
    out.numbers.push_back({first.model + "." + name, unit, {start, second}, std::move(value), start});
  }
  /// Adds a speed, whose second start is half an order of magnitude higher.
  void add_speed(const std::string& name) const {
    const double start = first.shape_value(name);
    add(
        name, "1", [start](double x) { return start * std::exp(x); }, 0, std::log(3.0));
  }
  void add_threshold(const std::string& name, double highest, double sign) const {
    const double p = std::abs(first.shape_value(name)) / highest;
    const double start = std::log(p / (1 - p));
    add(
        name, "V", [=](double x) { return sign * highest * share(x); }, start, start + 1);
  }
  void add_power(const std::string& name, double second) const {
    add(name, "1", power, std::log(first.shape_value(name)), std::log(second));
  }
  void add_place(const std::string& name) const { add(name, "1", share, 0, 0); }
};

}  // namespace

void add_volt_numbers(FitNumbers& out, const DeviceSpec& first, const std::vector<PulseRecord>& records) {
  const Adder adder{out, first};
  const bool vteam = first.model == "vteam";
  for (const auto& [direction, name] : {std::pair{Direction::up, "up"}, std::pair{Direction::down, "down"}}) {
    const VoltSide side = side_of(records, direction);
    const std::string end = std::string("_") + name;
    adder.add_speed((vteam ? "k" : "A") + end);
    if (side.amplitudes() > (vteam ? 2 : 1)) {
      adder.add_threshold("threshold" + end, side.highest(), vteam && direction == Direction::down ? -1 : 1);
    }
    if (vteam) {
      if (side.amplitudes() > 1) adder.add_power("alpha" + end, 3);
    } else {
      adder.add_place("x" + end);
      adder.add_power("alpha" + end, 4);
    }
  }
  if (vteam) adder.add_power("window", 0.5);
}

DeviceSpec first_volt_guess(const std::string& model, const std::vector<PulseRecord>& records) {
  for (const PulseRecord& record : records) {
    if (record.volts.empty() || record.width_s.empty()) {
      throw UserError(fmt::format(
          "devices fit: {} is a model of voltages: the file needs the columns voltage_V and width_s", model));
    }
  }
  DeviceSpec spec;
  spec.model = model;
  spec.shape.clear();
  const bool vteam = model == "vteam";
  std::vector<double> widths;
  for (const auto& [direction, name] : {std::pair{Direction::up, "up"}, std::pair{Direction::down, "down"}}) {
    const VoltSide side = side_of(records, direction);
    const double sign = direction == Direction::up ? 1 : -1;
    const std::string end = std::string("_") + name;
    const double volts = upper_median(side.volts), threshold = side.lowest() / 2;
    spec.shape["pulse" + end] = sign * volts;
    spec.shape["threshold" + end] = vteam ? sign * threshold : threshold;
    const double drive = vteam ? volts / threshold - 1 : std::exp(volts) - std::exp(threshold);
    spec.shape[(vteam ? "k" : "A") + end] = typical_speed(side) / drive;
    spec.shape["alpha" + end] = 1;
    if (!vteam) spec.shape["x" + end] = 0.5;
    widths.insert(widths.end(), side.widths.begin(), side.widths.end());
  }
  if (vteam) spec.shape["window"] = 1;
  spec.shape["pulse_width"] = upper_median(widths);
  return spec;
}

void set_volt_pulses(DeviceSpec& spec) {
  PulseLaw law(spec);
  PulseRecord two;
  const double width = spec.shape_value("pulse_width"), middle = spec.g_min_S + spec.window_S() / 2;
  two.conductance_S = {middle, middle, middle};
  two.volts = {0, spec.shape_value("pulse_up"), spec.shape_value("pulse_down")};
  two.width_s = {0, width, width};
  PulseLaw::Places up{}, down{};
  up.fill(middle);
  down.fill(middle);
  law.move(two, 1, up);
  law.move(two, 2, down);
  const double mean = (std::abs(up[0] - middle) + std::abs(down[0] - middle)) / 2;
  spec.pulses = std::clamp(spec.window_S() / std::max(mean, 1e-9 * spec.window_S()), 2.0, 1e9);
}

}  // namespace nudge
