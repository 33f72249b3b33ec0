// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "devices/device_part.hpp"
#include "devices/pulse_effects.hpp"
#include "devices/registry.hpp"
#include "sim/read_timing.hpp"

namespace nudge {

/// Devices of one kind, sampled from a DeviceSpec. Bounds and pulse sizes of each device are drawn once (static,
/// device-to-device). The conductance starts at g_min, or at the device's own lower bound where that is higher. Other behaviour
/// (state of its own, retention, slow noise, faults) comes from its parts, common ones and the model's own (DevicePart).
template <class S>
class DeviceArray {
 public:
  /// Samples the devices. The spec must be valid (DeviceSpec::validate); threads as in parallel_for. stuck_S (rows, cols):
  /// conductance of each stuck device, within its bounds or not; NaN: free. Null: only the stuck devices that the spec draws.
  DeviceArray(const DeviceSpec& spec, Index rows, Index cols, const ArrayIdentity& identity, int threads = 1,
              const Matrix<double>* stuck_S = nullptr);

  /// Programs g ← target + σ(target) N(0, 1), clipped to the bounds of each device: σ² is the sum of the squares of programming_error ·
  /// (g_max − g_min) and of the state-dependent fit. `number` says which programming of this array it is: another number draws other errors.
  void program(const Matrix<S>& target, std::uint64_t number);

  /// Asks for g ← g + factor · delta (siemens); returns the pulses sent. `number` says which operation on this array it is,
  /// counted together with pulse(): another number draws other random numbers.
  PulseCount update(const Matrix<S>& delta, S factor, std::uint64_t number);

  /// Sends |count| whole pulses to every device, up where count > 0 and down where it is negative.
  PulseCount pulse(const Matrix<S>& counts, std::uint64_t number);
  /// Sends |count| whole pulses to the devices at the flat places `which` only; counts (1, which.size()), negative: down.
  PulseCount pulse(const std::vector<Index>& which, const Matrix<S>& counts, std::uint64_t number);
  /// Sends |count| pulses of other volts and width than the model's own to the devices at the flat places `which`. The model
  /// must have volts (DeviceModel::memristor).
  PulseCount pulse(const std::vector<Index>& which, const Matrix<S>& counts, std::uint64_t number,
                   const PulseChange& change);
  /// Sends counts_up and counts_down (≥ 0) pulses to every device in an unknown order. This is half of one direction,
  /// all of the other, the rest of the first. The first direction, and the half with the odd pulse, are fair coins per
  /// device. The unknown order then biases nothing to second order in the change. Uses the numbers `number` to `number`
  /// + 2.
  PulseCount pulse_both(const Matrix<S>& counts_up, const Matrix<S>& counts_down, std::uint64_t number);

  /// Lets time pass without pulses, while the array is read. The parts change the stored or seen conductances. No two calls on one
  /// array share `step`. Returns true if conductance() changed. Needs times ≥ 0 and finite.
  bool advance_time(const Elapsed& time, std::uint64_t step, Gathering gathering = Gathering::allowed);

  /// Leaves, from now on, slow noise with correlation times below `seconds` to moving(): conductance() goes without it.
  void leave_moving(double seconds);
  std::vector<MovingDevices<S>> moving() const;

  /// Variance of the fresh noise of a read of each device per √τ, S². It comes in addition to the variance that all devices share
  /// (DeviceSpec::uniform_read_S2), from the spec at the device's conductance and from its parts. 0 where reads_by_state() is false.
  Matrix<double> state_read_variance_S2() const;
  bool reads_by_state() const { return spec_.reads_by_state() || any_part(&DevicePart<S>::reads_noisy); }

  const DeviceSpec& spec() const { return spec_; }
  bool bounded() const { return model_->bounded(); }
  const ArrayIdentity& identity() const { return site_.identity; }

  /// Conductance that a read sees: the stored one, cells().g, with the slow noise of this moment and the write noise.
  const Matrix<S>& conductance() const { return shows_ ? seen_ : cells_.g; }

  /// Number of devices that have received as many pulses as they last and no longer answer (device.endurance_failure = stuck).
  Index worn_out() const { return cells_.life.size() > 0 ? (cells_.writes.array() >= cells_.life.array()).count() : 0; }

  /// Heat of the pulses received so far; it says too if the heat of a pulse is known.
  const PulseHeat<S>& pulse_heat() const { return heat_; }
  /// Books heat and time beyond the totals `since_J` and `since_s` as programming.
  void heat_was_programming(double since_J, double since_s) {
    heat_.add_programming(heat_.total_J() - since_J, heat_.total_s() - since_s);
  }

  /// Sampled and learnt state of all devices, for checkpoints; after changing it call state_restored().
  DeviceCells<S>& cells() { return cells_; }
  const DeviceCells<S>& cells() const { return cells_; }
  std::vector<SlowArray<S>> slow_state();
  void state_restored();

 private:
  /// Must be called after a write changed cells_.g: `step` and `purpose` name the write.
  void written(Purpose purpose, std::uint64_t step);
  void sample();
  void hold();
  bool any_part(bool (DevicePart<S>::*has)() const) const;
  /// Recomputes the seen conductance.
  void show();
  UpdateRequest<S> request(const Matrix<S>& delta, std::uint64_t number) const;
  PulseCount send(const UpdateRequest<S>& request);

  DeviceSpec spec_;
  ArraySite site_;
  std::shared_ptr<const StepModel> model_;
  std::vector<CellState> states_;  ///< kinds of the states in cells_.own
  DeviceCells<S> cells_;
  std::vector<std::unique_ptr<DevicePart<S>>> parts_;
  PulseHeat<S> heat_;
  HalfSelect<S> neighbours_;
  ChangedPulses changed_;
  double moving_s_ = 0;          ///< slow noise of shorter correlation times is not in seen_
  bool follows_writes_ = false;  ///< a part needs to know which devices were written
  bool shows_ = false;           ///< seen_ differs from cells_.g
  Matrix<S> before_;             ///< cells_.g after the last write or advance_time
  Matrix<S> seen_;
  std::array<Matrix<S>, 3> runs_;  ///< working memory of pulse_both, kept: fresh pages cost as much as its arithmetic
};

}  // namespace nudge
