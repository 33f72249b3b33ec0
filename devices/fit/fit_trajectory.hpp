// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "devices/device_spec.hpp"
#include "devices/fit/pulse_csv.hpp"

namespace nudge {

/// What a fitted model is as numbers without bounds, and back: what the least squares below move.
struct FitParameters {
  std::vector<double> start;  ///< the first two: logarithms of the mean steps up and down, of the window
  /// Numbers [first, last) of these are logarithms along a curve: each is expected within a factor e of the one before (normal, deviation
  /// 1), which decides where a record says nothing, as beyond a bound that it never leaves.
  std::vector<std::pair<std::size_t, std::size_t>> curves = {};
  std::function<void(const std::vector<double>& numbers, DeviceSpec& spec)> apply;
};

/// The ends of a device's window as shares of the range of its record: bounds at low + x_low (high − low) and high + x_high (high − low).
/// Noise of reads puts the extremes of a record beyond the bounds of its device, a record that stops early leaves them inside.
struct WindowShift {
  double low = 0, high = 0;
  std::vector<double> starts =
      {};  ///< of each record: what its first value is off the device's, as such a share; empty: nothing
};

/// The ends of a record's range, in S.
struct RecordRange {
  double low = 0, high = 0;
  double size() const { return high - low; }
};
/// UserError where the conductance never changes.
RecordRange range_of(const PulseRecord& record);

/// A whole record replayed: the conductance after every pulse, from `first` on, of a device in continuous updates without noise.
std::vector<double> replay(const DeviceSpec& spec, const PulseRecord& record, double first);

/// Moves the model's numbers and the ends of the window so that Σ (g_i − replay_i)² over whole records is least (Levenberg–Marquardt with
/// forward differences, Moré, Lecture Notes in Mathematics 630:105 (1978)), with the expectation of FitParameters::curves at the weight
/// of one value of the record, from where single steps have brought them, which carry twice the variance of the read noise, as sums of
/// pulses do not, and from a level curve; the better end counts. Returns the shift; the spec is left alone where nothing is gained.
WindowShift fit_trajectory(DeviceSpec& spec, const FitParameters& parameters, const std::vector<PulseRecord>& records);

}  // namespace nudge
