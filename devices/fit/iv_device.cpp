// SPDX-License-Identifier: Apache-2.0
// Device of a law that sweeps tell.
#include <fmt/format.h>

#include "devices/fit/fit_numbers.hpp"
#include "devices/fit/iv_motion.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

constexpr double wanted_pulses = 100;  // across the window: a weight then has seven bits
constexpr double few_pulses = 50;  // training on devices of fewer pulses stays far from its best (results/devices.md)
constexpr double least_width_s = 1e-15, most_width_s = 1e5;

}  // namespace

DeviceSpec device_of_law(const IvMotion& m, const IvReads& reads) {
  DeviceSpec spec;
  spec.model = m.vteam ? "vteam" : "yakopcic";
  spec.g_min_S = m.g_min_S;
  spec.g_max_S = m.g_max_S;
  const Vteam& r = m.resistive;
  const Yakopcic& g = m.conductive;
  if (m.vteam) {
    spec.shape = {{"threshold_up", r.threshold_up_V},
                  {"threshold_down", r.threshold_down_V},
                  {"k_up", r.k_up_Hz},
                  {"k_down", r.k_down_Hz},
                  {"alpha_up", r.alpha_up},
                  {"alpha_down", r.alpha_down},
                  {"window", r.window}};
  } else {
    spec.shape = {{"threshold_up", g.threshold_up_V},
                  {"threshold_down", g.threshold_down_V},
                  {"A_up", g.A_up},
                  {"A_down", g.A_down},
                  {"x_up", g.x_up},
                  {"x_down", g.x_down},
                  {"alpha_up", g.alpha_up},
                  {"alpha_down", g.alpha_down}};
    if (reads.sinh_V() > 0) spec.shape["b"] = 1 / reads.sinh_V();
  }
  spec.curve.sinh_V = reads.sinh_V();
  const double up = std::abs(reads.set_V.value), down = -std::abs(reads.reset_V.value);
  spec.shape["pulse_up"] = up;
  spec.shape["pulse_down"] = down;
  const double fastest = std::max(std::abs(m.rate(0.5, up)), std::abs(m.rate(0.5, down)));
  double& width = spec.shape["pulse_width"];
  width = std::clamp(1 / wanted_pulses / std::max(fastest, 1e-9), least_width_s, most_width_s);
  // The state is no conductance: the width that moves 1 % of one may move a quarter of the other.
  for (int round = 0; round < 6; ++round) {
    set_mean_pulses(spec);
    width = std::clamp(width * spec.pulses / wanted_pulses, least_width_s, most_width_s);
  }
  set_mean_pulses(spec);
  spec.update = PulseMode::pulsed;
  return spec;
}

std::vector<std::string> pulse_warnings(const DeviceSpec& spec) {
  std::vector<std::string> out;
  const double width = spec.shape_value("pulse_width");
  if (spec.pulses < few_pulses) {
    out.push_back(
        fmt::format("a pulse of {} crosses the window in {:.3g}: a device of fewer than {:g} pulses learns little. "
                    "Pulses of {} would take {:g}",
                    format_quantity(width, Unit::second, 3), spec.pulses, few_pulses,
                    format_quantity(width * spec.pulses / wanted_pulses, Unit::second, 3), wanted_pulses));
  }
  const auto [up, down] = mean_pulses_S(spec);
  const double larger = std::max(up, down), smaller = std::min(up, down);
  if (!(smaller > 0.1 * larger)) {
    out.push_back(fmt::format(
        "pulses {} move {:.3g} of the window, those {} {:.3g}: the device forgets in one direction what it learns in "
        "the other. "
        "Choose pulse_up and pulse_down nearer to each other in their effect",
        up > down ? "up" : "down", larger / spec.window_S(), up > down ? "down" : "up", smaller / spec.window_S()));
  }
  return out;
}

}  // namespace nudge
