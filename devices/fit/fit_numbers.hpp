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

/// Coordinates of the models with volts (has_volts()), behind the bounds. Of pulses of one amplitude in a direction only the speed is a
/// number: threshold and power (of yakopcic: the threshold) stay as in `first`. Two amplitudes give the power too (the threshold of yakopcic),
/// three both.
void add_volt_numbers(FitNumbers& out, const DeviceSpec& first, const std::vector<PulseRecord>& records);

/// Where the search begins: thresholds at half of the smallest amplitude, pulses of which a run leaves about e^-4 of the window; pulse_up,
/// pulse_down and pulse_width are the records' medians. UserError for records without volts.
DeviceSpec first_volt_guess(const std::string& model, const std::vector<PulseRecord>& records);

/// device.pulses of such a model: how many of its pulses cross the window, by those in its middle.
void set_volt_pulses(DeviceSpec& spec);

/// Where the search for a model begins, from the single steps dg(g) of the records of one device, without those that end at the extremes of
/// what was measured (cut by a bound): window, mean pulses and shape. linear_step, power_step and label_curve: a line per direction, its slope
/// held within [0, s]; soft_bounds: the line through zero at the bound; exponential_step: s (1 − A exp(γ z)) with the best γ of a grid of 60
/// from 0.05 to 20, and one from −20 to −0.05; piecewise: tables of `points` values, steps below zero taken as zero. Noise of reads biases all of
/// them. UserError for records without steps inside the window.
std::vector<DeviceSpec> first_guesses(const std::vector<PulseRecord>& records, const std::string& model, int points);

/// Whether pulse i ended at the bound ahead, which cut its step.
bool ends_at_bound(const PulseRecord& record, std::size_t i, double g_min_S, double window_S);

}  // namespace nudge
