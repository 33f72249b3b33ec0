// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "devices/device_spec.hpp"
#include "devices/fit/law_check.hpp"
#include "devices/fit/pulse_csv.hpp"
#include "devices/fit/pulse_likelihood.hpp"

namespace nudge {

/// A device model fitted to measured pulses of one device.
struct PulseFit {
  DeviceSpec spec;
  double step_residual = 0;   ///< rms of measured minus predicted single steps, in mean pulses
  double curve_residual = 0;  ///< rms distance of the replayed curve, of the record's range
  double mean_residual = 0;   ///< rms distance of a horizontal line, of the record's range
  /// Standard deviation σ of white noise of reads, of the record's range; 0 where none shows. With d_i the differences of the
  /// curve's distance from pulse to pulse, this noise has ⟨d_i d_{i+1}⟩ = −σ² and adds 2 σ² to ⟨d²⟩; the rest is noise of
  /// pulses. The noise in `likelihood` is estimated apart.
  double read_noise = 0;
  /// Correlation of the curve's distance from one pulse to the next. Near 1: noise of pulses, or a curve of another shape;
  /// near 0: noise of reads.
  double autocorrelation = 0;
  LikelihoodFit likelihood;
  RecordRange range = {};                    ///< range of the reads
  std::optional<Direction> unmeasured = {};  ///< direction without a pulse, of which the spec has the other's law
  std::vector<FittedNumber> intervals = {};  ///< intervals found by add_intervals()
  LawCheck law = {};                         ///< what the record says against the law, found by add_intervals()
  std::vector<std::string> of_devices = {};  ///< of a population: warnings of single devices that are not its own

  /// True if the curve beats a horizontal line by Akaike's criterion n ln(residual²) + 2 · numbers.
  bool better_than_mean() const;
  /// True if the model is a table whose pulses towards a bound die out: the last value is below half of its neighbor's. A straight line
  /// is then zero within one more cell, so that the table does not tell this bound from one farther out.
  bool dies_out(Direction direction) const;
  /// Warnings to read before believing the fit: a direction that was not measured, bounds that were never approached, errors
  /// that are not white, a law that the record contradicts.
  std::vector<std::string> warnings() const;

 private:
  std::vector<std::string> bound_warnings() const;
};

/// Models that fit_records() knows. Not among them: ideal, which has no pulses, and soft_bounds_reference, which for one
/// device is soft_bounds with other bounds. vteam and yakopcic need voltages.
const std::vector<std::string>& fitted_models();

/// Leak of a fit: none, or exponential with its time and rest as numbers of the one likelihood.
enum class LeakLaw { none, exponential };

/// Fits a model to the whole records (cycles) of one device by largest_likelihood(), from first_guesses(). Noise of pulses becomes update_noise. Noise
/// of reads (likelihood.noise) belongs to the device and the instrument, and is not in the spec. UserError for an unknown
/// model (closest name) or records without a window.
PulseFit fit_records(const std::vector<PulseRecord>& records, const std::string& model, int points = 9,
                     LeakLaw leak = LeakLaw::none, const ToldNoise& noise = {});

/// Sets spec, range and residuals from the fit's likelihood.
void refresh(PulseFit& fit, const std::vector<PulseRecord>& records);

/// Adds the 95 % intervals of profile_intervals(), which take a few times as long as the fit. Where check_law() fails or pulses die out, a
/// bound's interval is open outwards. Inwards it holds the extreme read, less three deviations of reads.
void add_intervals(PulseFit& fit, const std::vector<PulseRecord>& records);

/// Fit as TOML for a configuration, with its residuals and intervals as comments.
std::string fit_toml(const PulseFit& fit, const std::string& source);

/// A number over n devices, with intervals of 95 %: mean, and standard deviation between devices (0 for one device). An end
/// that the records do not determine is absent, as are all ends before add_intervals().
struct DeviceEstimate {
  int n = 0;
  double mean = 0, deviation = 0;
  std::optional<double> mean_low = {}, mean_high = {};
  std::optional<double> deviation_low = {}, deviation_high = {};
};

/// Fit of one device among several.
struct DeviceFit {
  std::string name;
  PulseFit fit;
};

/// Fits of the devices of one wafer, and their spread.
struct PopulationFit {
  /// Fit of the only device; of several, the device in their middle, with their spread in its spec. Residuals are then rms
  /// over devices, and the likelihood's deviance and numbers are summed.
  PulseFit common;
  std::vector<DeviceFit> each = {};
  std::vector<DeviceEstimate> spreads = {};  ///< of several devices, beside each of common.intervals
  int devices = 0, records = 0;
  DeviceEstimate g_min_S, g_max_S;
  DeviceEstimate step_S;     ///< the larger of a device's two mean pulses
  DeviceEstimate asymmetry;  ///< as device.asymmetry
  double repeat = 0;  ///< rms over cycles of the conductance after the same pulses, of the window; NaN: one cycle each
};

/// Fits the model to each device (its cycles together). The population is the sample mean and covariance of the devices in
/// the joint coordinates of devices/spreads.hpp. The pulses of all stand at one reference, the middle of the mean window. The spec's bounds and pulses are the mean's, device.joint_covariance is the covariance, update_noise the rms over
/// devices, and other numbers of the shape are their means. Errors of the single fits are in the covariance too (two-stage
/// estimate; Davidian and Giltinan, Nonlinear Models for Repeated Measurement Data, 1995, ch. 5), until add_intervals().
///
/// Records with reads after a wait are fitted with and without a leak; Schwarz's criterion, summed over devices, decides for all. Leak
/// times have their geometric mean, and leak_spread is their deviation over it. All devices have the same kinds of noise (NoiseKind), by the same criterion.
///
/// programming_error is the repeatability of pulses sent blindly, of the window. It is the standard deviation over a device's
/// cycles of the conductance that the same pulses reach, rms over pulses and devices. A device's cycles must have the same
/// pulses for that; other devices are left out of it. UserError as fit_records(), naming the device.
PopulationFit fit_population(const std::vector<LabRecord>& records, const std::string& model, int points = 9);

/// Adds the intervals of each device by profile_intervals(), and of means and deviations by number_over_devices(). A device
/// that leaves a number open takes the others' (fit_among()). Header, numbers and spec are of this one population.
void add_intervals(PopulationFit& fit, const std::vector<LabRecord>& records);

/// Opens the common intervals of the bounds where more devices contradict their law than chance lets true laws do, at 5 % of each device.
void open_bounds(PopulationFit& fit);

/// Population as TOML for a configuration, with the intervals as comments.
std::string fit_toml(const PopulationFit& fit, const std::string& source);

/// Table of the population's estimates for people.
std::string population_text(const PopulationFit& fit);

}  // namespace nudge
