// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <compare>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "devices/current_curve.hpp"
#include "devices/device_part.hpp"
#include "devices/registry.hpp"

namespace nudge {

/// Change of the pulses against a model's own: V ← share V ± add_V away from 0, width ← longer · width.
struct PulseChange {
  double share = 1;
  double add_V = 0;
  double longer = 1;
  bool swapped = false;  ///< up pulses have the amplitude of down pulses, and the other way round

  bool none() const { return *this == PulseChange{}; }
  double volts(double own_V) const { return share * own_V + std::copysign(add_V, own_V); }
  /// Pulse as seen by a cell that gets the share `part` of its voltage.
  PulseChange seen_by(double part) const { return {part * share, part * add_V, longer, swapped}; }
  auto operator<=>(const PulseChange&) const = default;
};

/// Effect of changed pulses on devices of one kind: each change is worked out when first asked for.
class ChangedPulses {
 public:
  struct Kind {
    std::shared_ptr<const StepModel> model;
    std::pair<WritePulse, WritePulse> pulses;  ///< up, down
  };
  /// Effect of one change, which may be a pulse that moves nothing. Needs DeviceModel::memristor.
  const Kind& at(const DeviceSpec& spec, const PulseChange& change);

 private:
  std::map<PulseChange, Kind> kinds_;
};

/// Counts of the disturb pulses that cells receive while other cells of their lines are written, one after another. If a
/// write sends n_ij pulses of one polarity to the cells of a tile, cell (i, j) gets
///     V/2 scheme:  r_i + c_j − 2 n_ij  of half the voltage,     r_i = Σ_j n_ij, c_j = Σ_i n_ij
///     V/3 scheme:  r_i + c_j − 2 n_ij  of a third, and Σ n − r_i − c_j + n_ij of minus a third.
template <class S>
struct DisturbCounts {
  Matrix<S> along;     ///< pulses of a half or a third of the voltage, of the write's polarity
  Matrix<S> opposite;  ///< pulses of minus a third of the voltage
};
/// Counts the disturb pulses of a write; n (N, M): its pulses, of one polarity.
template <class S>
DisturbCounts<S> disturb_counts(const Matrix<S>& n, const WriteLines& lines);

/// Applies the disturb pulses (DisturbCounts) to an array. They follow the pulses of the write that caused them, those caused
/// by up pulses first. They have no noise from cycle to cycle and are no wear.
template <class S>
class HalfSelect {
 public:
  explicit HalfSelect(const DeviceSpec& spec) : lines_(spec.lines) {}
  bool active() const { return lines_.bias != WriteBias::isolated; }

  /// Brackets a write: begin() must be called before and end() after a write of `cells`. The pulses, changed by `change`,
  /// went up where delta > 0 and down where delta < 0. end() returns the heat of the pulses of half-selected cells, J.
  void begin(const DeviceCells<S>& cells);
  double end(DeviceCells<S>& cells, const DeviceSpec& spec, const UpdateRequest<S>& request, const PulseChange& change,
             ChangedPulses& kinds);

 private:
  static double send(DeviceCells<S>& cells, const Matrix<S>& n, bool up, const DeviceSpec& spec,
                     const ChangedPulses::Kind& kind, int threads);

  WriteLines lines_;
  Matrix<S> writes_;
};

/// Up and down pulse of a device. device.pulse_voltage_* and pulse_width_* come first, if both are given. Then a model with
/// volts and widths of its own (vteam, yakopcic). Else unknown (0).
std::pair<WritePulse, WritePulse> write_pulses(const DeviceSpec& spec);

/// Joule heat of the pulses that an array of devices has received, and the time that the pulses take, one after another,
///     E = Σ n ∫ V I dt = Σ over writes and devices of n V² t_p (G_before + G_after)/2,
/// with n pulses of V volts and t_p seconds each that move a device from G_before to G_after. Between the two the conductance moves one
/// way, so n V² t_p |G_after − G_before|/2 bounds the error of each term. The relative error is at most half the change of a write over
/// its conductance. It is exact where G moves at constant speed. G is the conductance of a cell, behind its selector. Drivers and lines
/// are not counted.
template <class S>
class PulseHeat {
 public:
  explicit PulseHeat(const DeviceSpec& spec) : pulses_(write_pulses(spec)), selector_(spec.selector) {}

  /// True if the energy of a pulse is known.
  bool known() const {
    return pulses_.first.voltage_V * pulses_.first.width_s > 0 || pulses_.second.voltage_V * pulses_.second.width_s > 0;
  }
  /// Brackets a write: begin() must be called before and end() after a write of `cells` that asks for request.factor ·
  /// request.delta and sends `sent`.
  void begin(const DeviceCells<S>& cells);
  /// Adds the heat of a write at its end; other: the up and down pulses, if they were not the device's own.
  void end(const DeviceCells<S>& cells, const UpdateRequest<S>& request, const PulseCount& sent,
           const std::pair<WritePulse, WritePulse>* other = nullptr);
  /// Adds heat from elsewhere in the array.
  void add(double joules) { total_J_ += joules; }
  double total_J() const { return total_J_; }
  double total_s() const { return total_s_; }
  double programming_J() const { return programming_J_; }  ///< part of total_J() that programming took
  double programming_s() const { return programming_s_; }
  void add_programming(double joules, double seconds) {
    programming_J_ += joules;
    programming_s_ += seconds;
  }

  /// Appends the state for checkpoints; nothing if pulses are unknown.
  void append_state(std::vector<SlowArray<S>>& out);
  void state_restored();

 private:
  std::pair<WritePulse, WritePulse> pulses_;  ///< up, down
  Matrix<S> g_, writes_;                      ///< conductances and pulse counts before a write
  SelectorSpec selector_;
  double total_J_ = 0, programming_J_ = 0, total_s_ = 0, programming_s_ = 0;
  Matrix<S> digits_ = Matrix<S>::Zero(4, 3);  ///< digits of the totals (store_double)
};

}  // namespace nudge
