// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "devices/selector.hpp"
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
/// relative; it is exact where G moves at constant speed. G is that of a cell, behind its selector. Without drivers and lines. And the time
/// that the pulses take, one after another.
template <class S>
class PulseHeat {
 public:
  explicit PulseHeat(const DeviceSpec& spec) : pulses_(write_pulses(spec)), selector_(spec.selector) {}

  /// Whether the energy of a pulse is known.
  bool known() const {
    return pulses_.first.voltage_V * pulses_.first.width_s > 0 || pulses_.second.voltage_V * pulses_.second.width_s > 0;
  }
  /// To be called before and after a write of `cells` that asks for request.factor · request.delta and sends `sent`.
  void begin(const DeviceCells<S>& cells);
  /// other: the pulses, up and down, where they were not the device's own.
  void end(const DeviceCells<S>& cells, const UpdateRequest<S>& request, const PulseCount& sent,
           const std::pair<WritePulse, WritePulse>* other = nullptr);
  /// Heat elsewhere in the array.
  void add(double joules) { total_J_ += joules; }
  double total_J() const { return total_J_; }
  double total_s() const { return total_s_; }
  double programming_J() const { return programming_J_; }  ///< of it, what programming took
  double programming_s() const { return programming_s_; }
  void add_programming(double joules, double seconds) {
    programming_J_ += joules;
    programming_s_ += seconds;
  }

  /// For checkpoints; nothing where pulses are unknown.
  void append_state(std::vector<SlowArray<S>>& out);
  void state_restored();

 private:
  std::pair<WritePulse, WritePulse> pulses_;  ///< up, down
  Matrix<S> g_, writes_;                      ///< before a write
  SelectorSpec selector_;
  double total_J_ = 0, programming_J_ = 0, total_s_ = 0, programming_s_ = 0;
  Matrix<S> digits_ = Matrix<S>::Zero(4, 3);  ///< of these (store_double)
};

}  // namespace nudge
