// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "devices/device_spec.hpp"
#include "devices/fit/pulse_csv.hpp"

namespace nudge {

/// Number of a fitted model as a coordinate without bounds: the logarithm of a positive number, the logit of one between two ends.
struct FitNumber {
  std::string name;                     ///< name as in a config, "g_max", "linear_step.gamma_up"; or "pulse_up", S
  std::string unit;                     ///< "S", "V", "s", or "1"
  std::vector<double> starts;           ///< coordinate at which each search begins
  std::function<double(double)> value;  ///< number as a monotone function of the coordinate
  /// Expected coordinate and its standard deviation (normal). They decide where a record says nothing, as of a bound that no
  /// pulse comes near. A factor e^4 = 55 to either side fixes no more than the order of magnitude.
  double expected = 0, deviation = 4;
  bool of_table = false;  ///< value of a table, which leans on its neighbour: expected within a factor e

  /// Scale on which devices differ about normally: ln |number| of numbers with a unit, the coordinate of others. number_at()
  /// goes back, and has the sign of value().
  double scaled(double coordinate) const;
  double number_at(double scaled) const;
  /// Coordinate of a number on that scale, within 30 of 0.
  double coordinate_at(double scaled) const;
};

/// Range of the measured conductances, S.
struct RecordRange {
  double low = 0, high = 0;
  double size() const { return high - low; }
  double middle() const { return low + size() / 2; }
};

/// Range over all reads of the records. UserError where the conductance never changes.
RecordRange range_of(const std::vector<PulseRecord>& records);

/// Direction that no pulse of the records has.
std::optional<Direction> unmeasured_direction(const std::vector<PulseRecord>& records);

/// Gives the direction that was not measured the law of the other one, mirrored about the middle of the window. Numbers and
/// tables of the shape are mirrored; the asymmetry is 0.
void mirror_direction(DeviceSpec& spec, Direction unmeasured);

/// Coordinates of a fitted model, and the function that writes them to a spec. The first two are g_min and g_max. Then come
/// the mean pulses up and down at the reference, in models that have them, then the shape, then time and rest of a leak.
struct FitNumbers {
  std::vector<FitNumber> numbers;
  std::function<void(const double* coordinates, DeviceSpec& spec)> apply;
};

/// Coordinates of a model, and of a leak where `first` has one; a direction without pulses has none, and follows the other (mirror_direction()). The first search begins at `first`, a guess of first_guesses(). The second begins with level
/// curves and with pulses of which a run leaves about e^-4 of the window.
FitNumbers fit_numbers(const DeviceSpec& first, const std::vector<PulseRecord>& records);

/// Sets `pulses` and `asymmetry` from the pulses up and down at the reference, of the window; reference_pulse is 1. steps_of_spec() goes the other way.
void set_steps(DeviceSpec& spec, double up, double down);
std::pair<double, double> steps_of_spec(const DeviceSpec& spec);

/// First guess of a model with volts: thresholds at half of the smallest amplitude, pulses of which a run leaves about e^-4
/// of the window. pulse_up, pulse_down and pulse_width are the records' medians. UserError for records without volts.
DeviceSpec first_volt_guess(const std::string& model, const std::vector<PulseRecord>& records);

/// Mean sizes of pulses up and down in siemens, over starts equally far apart across the window. They are single pulses of the law itself; a
/// model with volts gets its pulse_up, pulse_down and pulse_width. Where the bound stops them their sizes go on as a straight line.
std::pair<double, double> mean_pulses_S(const DeviceSpec& spec);

/// Sets device.pulses to the number of mean pulses across the window, of the direction whose mean is the larger. The law itself stays:
/// device.reference_pulse takes what its pulse at the reference differs by. So the same rate moves a weight alike, whichever law
/// describes the cell.
void set_mean_pulses(DeviceSpec& spec);

/// Leak of a device, g ← g_r + (g − g_r) exp(−Δt/T); 0 s: none.
struct LeakGuess {
  double time_s = 0, rest_S = 0;
};

/// First guess of the leak that reads after a wait show, by least squares from each read to the next. g_r is linear at each T of a grid, from a
/// hundredth of the shortest to a thousand times the longest wait. Records without waits have no leak.
LeakGuess first_leak(const std::vector<PulseRecord>& records);

/// First guesses of a model, from the single steps dg(g) of the records of one device: window, mean pulses and shape. Steps
/// that end at the extremes of the record (cut by a bound) are left out. linear_step, power_step and label_curve: a line per
/// direction, its slope held within [0, s]. soft_bounds: the line through zero at the bound. exponential_step: s (1 − A exp(γ
/// z)) with the best γ of a grid of 60 from 0.05 to 20, and one from −20 to −0.05. piecewise: tables of `points` values,
/// steps below zero taken as zero. A step begins where the leak took the device in the pause before it. Noise of reads biases all of them. UserError for records without steps inside the window.
std::vector<DeviceSpec> first_guesses(const std::vector<PulseRecord>& records, const std::string& model, int points,
                                      const LeakGuess& leak = {});

/// True if pulse i ended at the bound ahead, which cut its step.
bool ends_at_bound(const PulseRecord& record, std::size_t i, double g_min_S, double window_S);

}  // namespace nudge
