// SPDX-License-Identifier: Apache-2.0
#include "devices/pulse_change.hpp"

#include "devices/memristor/pulsed_memristor.hpp"
#include "devices/pulse_heat.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

DeviceSpec with_change(const DeviceSpec& spec, const PulseChange& change) {
  NUDGE_EXPECT(has_equation(spec));
  DeviceSpec other = spec;
  const double up = change.volts(spec.shape_value("pulse_up")), down = change.volts(spec.shape_value("pulse_down"));
  other.shape["pulse_up"] = change.swapped ? -down : up;
  other.shape["pulse_down"] = change.swapped ? -up : down;
  other.shape["pulse_width"] = change.longer * spec.shape_value("pulse_width");
  for (WritePulse* given : {&other.pulse_up, &other.pulse_down}) {
    if (given->voltage_V > 0) given->voltage_V = change.volts(given->voltage_V);
    given->width_s *= change.longer;
  }
  if (change.swapped) std::swap(other.pulse_up.voltage_V, other.pulse_down.voltage_V);
  return other;
}

const ChangedPulses::Kind& ChangedPulses::at(const DeviceSpec& spec, const PulseChange& change) {
  const auto known = kinds_.find(change);
  if (known != kinds_.end()) return known->second;
  const DeviceSpec other = with_change(spec, change);
  return kinds_[change] = {make_resting_memristor(other), write_pulses(other)};
}

}  // namespace nudge
