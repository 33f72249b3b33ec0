// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "devices/slow/slow_array.hpp"
#include "devices/step_model.hpp"

namespace nudge {

/// The pulses of a device: device.pulse_voltage_* and pulse_width_* where both are given, else those of a model that has volts and
/// widths of its own (vteam, yakopcic), else unknown (0).
std::pair<WritePulse, WritePulse> write_pulses(const DeviceSpec& spec);

/// Joule heat of the pulses that an array of devices has received,
///     E = Σ n ∫ V I dt = Σ over writes and devices of n V² t_p (G_before + G_after)/2,
/// n pulses of V volts and t_p seconds each that move a device from G_before to G_after. Between the two the conductance moves one
/// way, so that n V² t_p |G_after − G_before|/2 bounds the error of each term: half the change of a write over its conductance,
/// relative; it is exact where G moves at constant speed. Without drivers and lines.
template <class S>
class PulseHeat {
 public:
  explicit PulseHeat(const DeviceSpec& spec) : pulses_(write_pulses(spec)) {}

  /// Whether the energy of a pulse is known.
  bool known() const {
    return pulses_.first.voltage_V * pulses_.first.width_s > 0 || pulses_.second.voltage_V * pulses_.second.width_s > 0;
  }
  /// To be called before and after a write of `cells` that asks for request.factor · request.delta and sends `sent`.
  void begin(const DeviceCells<S>& cells);
  void end(const DeviceCells<S>& cells, const UpdateRequest<S>& request, const PulseCount& sent);
  double total_J() const { return total_J_; }
  double programming_J() const { return programming_J_; }  ///< of it, what programming took
  void add_programming(double joules) { programming_J_ += joules; }

  /// For checkpoints; nothing where pulses are unknown.
  void append_state(std::vector<SlowArray<S>>& out);
  void state_restored();

 private:
  std::pair<WritePulse, WritePulse> pulses_;  ///< up, down
  Matrix<S> g_, writes_;                      ///< before a write
  double total_J_ = 0, programming_J_ = 0;
  Matrix<S> digits_ = Matrix<S>::Zero(2, 3);  ///< of both (store_double)
};

}  // namespace nudge
