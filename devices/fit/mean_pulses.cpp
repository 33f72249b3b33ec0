// SPDX-License-Identifier: Apache-2.0
// Mean pulses of a law over its window.
#include <algorithm>
#include <cmath>

#include "devices/fit/fit_numbers.hpp"
#include "devices/fit/pulse_law.hpp"

namespace nudge {
namespace {

/// Mean size of a pulse of one direction over places equally far apart across the window. Pulses that the bound stops count as the straight
/// line through the last two that it does not.
double mean_pulse_S(const PulseLaw& law, const PulseRecord& two, std::size_t pulse) {
  constexpr int places =
      64;  // of three conductances; a curve of aihwkit's steepest (e^5 across the window) is right to 1e-4
  constexpr double at_bound = 1e-9;
  const double width = law.upper_S() - law.lower_S();
  const bool up = two.direction[pulse] == Direction::up;
  double sum = 0, last = 0, slope = 0, counted = 0;
  for (int k = 0; k < places; ++k) {
    PulseLaw::Places from{}, to{};
    for (std::size_t j = 0; j < from.size(); ++j) {
      const double part = (3 * k + static_cast<double>(j) + 0.5) / (3 * places);
      from[j] = law.lower_S() + (up ? part : 1 - part) * width;
    }
    to = from;
    law.move(two, pulse, to);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const double left = up ? law.upper_S() - to[j] : to[j] - law.lower_S();
      const double size = std::abs(to[j] - from[j]);
      if (left <= at_bound * width && counted == 0) continue;  // it crosses the window
      const double next = left > at_bound * width ? size : std::max(last + slope, 0.0);
      slope = counted > 0 ? next - last : 0;
      last = next;
      sum += last;
      ++counted;
    }
  }
  return counted > 0 ? sum / counted : width;
}

}  // namespace

std::pair<double, double> mean_pulses_S(const DeviceSpec& spec) {
  const PulseLaw law(spec);
  PulseRecord two{{0, 0, 0}, {Direction::up, Direction::up, Direction::down}};
  if (has_volts(spec.model)) {
    const double width = spec.shape_value("pulse_width");
    two.volts = {0, spec.shape_value("pulse_up"), spec.shape_value("pulse_down")};
    two.width_s = {0, width, width};
  }
  return {mean_pulse_S(law, two, 1), mean_pulse_S(law, two, 2)};
}

void set_mean_pulses(DeviceSpec& spec) {
  const auto [up, down] = mean_pulses_S(spec);
  const double there = spec.reference_pulse_S(), larger = std::max({up, down, 1e-9 * spec.window_S()});
  const bool volts = has_volts(spec.model);
  if (!volts &&
      std::abs(larger - there) < 1e-9 * there) {  // a law whose mean pulse is at the reference, but for rounding
    spec.pulses /= spec.reference_pulse;
    spec.reference_pulse = 1;
    return;
  }
  spec.pulses = std::clamp(spec.window_S() / larger, 2.0, 1e9);
  if (!volts) spec.reference_pulse = there * spec.pulses / spec.window_S();
}

}  // namespace nudge
