// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "devices/fit/fit_pulses.hpp"

namespace nudge {

/// A number over n devices: mean m with the interval m ± t(0.975, n − 1) s/√n of Student's t, and standard deviation s with
/// [s √((n−1)/χ²(0.975, n−1)), s √((n−1)/χ²(0.025, n−1))], both of 95 % where the devices are drawn from a normal population
/// (Snedecor and Cochran, Statistical Methods, 8th ed. 1989, ch. 4 and 5). n = 1: no interval, s = 0.
struct DeviceEstimate {
  int n = 0;
  double mean = 0, mean_low = 0, mean_high = 0;
  double deviation = 0, deviation_low = 0, deviation_high = 0;
};

DeviceEstimate device_estimate(const std::vector<double>& values);

/// Devices of one wafer: one curve, and how the devices differ.
struct PopulationFit {
  PulseFit common;  ///< the curve of all records; its spec holds the spreads too
  int devices = 0, records = 0;
  DeviceEstimate g_min_S, g_max_S;
  DeviceEstimate step_S;     ///< the larger of a device's two mean pulses
  DeviceEstimate asymmetry;  ///< as device.asymmetry
  double repeat = 0;  ///< rms over cycles of the conductance after the same pulses, of the window; NaN: one cycle each
};

/// Fits the model to each device (its cycles together) and to all records. The spec's spreads are those of the devices:
///     upper_bound_spread = s(g_max)/(g_max − g_ref),   lower_bound_spread = s(g_min)/(g_ref − g_min),   step_spread = s(step)/step,
/// update_noise is the rms over devices of each around its own curve, and programming_error the repeatability of pulses
/// sent blindly: the standard deviation over a device's cycles of the conductance reached by the same pulses, rms over pulses and
/// devices, of the window. A device's cycles must have the same pulses for that; devices that have not are left out of it.
/// UserError as fit_pulses(), naming the device.
PopulationFit fit_population(const std::vector<LabRecord>& records, const std::string& model, int points = 9);

/// As TOML for a configuration, with the intervals as comments.
std::string fit_toml(const PopulationFit& fit, const std::string& source);

/// The table of estimates for people.
std::string population_text(const PopulationFit& fit);

}  // namespace nudge
