// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "devices/device_spec.hpp"
#include "devices/fit/pulse_csv.hpp"

namespace nudge {

/// A number of a fitted model as a coordinate without bounds: logarithms of what is positive, logits of what lies between two ends.
struct FitNumber {
  std::string name;  ///< of what it stands for: "g_max", "linear_step.gamma_up", as in a config; "pulse_up", S
  std::string unit;  ///< "S", "V", "s", or "1"
  std::vector<double> starts;           ///< the coordinate where each search begins
  std::function<double(double)> value;  ///< of the coordinate, monotone
  /// Where the coordinate is expected, give or take its deviation (normal). It decides where a record says nothing, as of a bound that no
  /// pulse comes near; a factor e^4 = 55 to either side is no more than the order of magnitude.
  double expected = 0, deviation = 4;
  bool of_table = false;  ///< a value of a table, which leans on its neighbour: expected within a factor e
};

/// The ends of what was measured, in S.
struct RecordRange {
  double low = 0, high = 0;
  double size() const { return high - low; }
  double middle() const { return low + size() / 2; }
};

/// Over all reads of the records. UserError where the conductance never changes.
RecordRange range_of(const std::vector<PulseRecord>& records);

/// What a fitted model is as coordinates, and back. The first two are g_min and g_max; then the mean pulses up and down at the reference
/// of models that have them, then the shape.
struct FitNumbers {
  std::vector<FitNumber> numbers;
  std::function<void(const double* coordinates, DeviceSpec& spec)> apply;
};

/// Coordinates of a model. `first` is a first guess of it (first_guess()) and where the first search begins; the second has level curves and
/// pulses of which a run leaves about e^-4 of the window.
FitNumbers fit_numbers(const DeviceSpec& first, const std::vector<PulseRecord>& records);

/// Mean pulses up and down at the reference, of the window, as `pulses` and `asymmetry`.
void set_steps(DeviceSpec& spec, double up, double down);
std::pair<double, double> steps_of_spec(const DeviceSpec& spec);

}  // namespace nudge
