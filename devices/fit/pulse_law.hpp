// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "devices/fit/clipped_normal.hpp"
#include "devices/fit/pulse_csv.hpp"
#include "devices/memristor/memristor.hpp"
#include "devices/memristor/state_scale.hpp"
#include "devices/step_model.hpp"

namespace nudge {

/// What the pulses of a record do to a device without noise, from three places at once: pulses of the model's own size, or, of a model
/// with volts (memristor_of()) and a record that has them, dx/dt = f(x, V) over the width of each (Runge–Kutta of fourth order, at most 5 % of
/// the state in a step, so that a step is right to 1e-7 of the window where the speed changes e-fold across it).
class PulseLaw {
 public:
  using Places = std::array<double, 3>;

  /// The spec must be valid.
  explicit PulseLaw(const DeviceSpec& spec);

  double lower_S() const { return lower_S_; }
  double upper_S() const { return upper_S_; }

  /// places ← where pulse i of the record (i ≥ 1) takes them; they must lie within the bounds.
  void move(const PulseRecord& record, std::size_t i, Places& places);

  /// Mean and variance of where pulse i ends that takes a device from one place to another without noise, for device.update_noise = sigma: noise
  /// of that share of what it moves, or, of has_constant_noise(), of its pulse at the reference, as far as the bounds let it.
  PulseEnd ends(const PulseRecord& record, std::size_t i, double from, double to, double sigma) const;

 private:
  void move_by_volts(double volts, double width_s, Places& places) const;
  double pulse_at_bound_S(Direction direction);

  double lower_S_, upper_S_;
  double up_at_upper_S_ = 0,
         down_at_lower_S_ = 0;  ///< with constant noise: pulses at the bound to which they lead, without it
  bool constant_noise_;
  std::unique_ptr<Memristor> memristor_;
  StateScale scale_ = StateScale::conductance;
  // The model itself: an array of it would look for faults, heat and drift at every pulse.
  std::unique_ptr<StepModel> model_;
  DeviceCells<double> cells_;
  Matrix<double> one_;
};

/// Whether a model has volts and widths of its pulses, which records of several amplitudes determine.
bool has_volts(const std::string& model);

/// Whether a model's noise of pulses is a part of the pulse at the reference, and not of what each pulse does.
bool has_constant_noise(const std::string& model);

/// A whole record replayed: the conductance after every pulse, from `first` on, without noise.
std::vector<double> replay(const DeviceSpec& spec, const PulseRecord& record, double first);

/// The same from the start that leaves the least squares; a measured start has noise of reads.
std::vector<double> replay(const DeviceSpec& spec, const PulseRecord& record);

}  // namespace nudge
