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

/// One of several devices.
struct DeviceFit {
  std::string name;
  PulseFit fit;
};

/// Devices of one wafer: each, and how they differ.
struct PopulationFit {
  /// Of one device its fit. Of several the device in their middle, whose spec has how they differ; residuals are rms over devices,
  /// the likelihood's deviance and numbers are summed.
  PulseFit common;
  std::vector<DeviceFit> each = {};
  int devices = 0, records = 0;
  DeviceEstimate g_min_S, g_max_S;
  DeviceEstimate step_S;     ///< the larger of a device's two mean pulses
  DeviceEstimate asymmetry;  ///< as device.asymmetry
  double repeat = 0;  ///< rms over cycles of the conductance after the same pulses, of the window; NaN: one cycle each
};

/// Fits the model to each device (its cycles together). The population is the sample mean and covariance of the devices in the coordinates of
/// JointSpread (devices/joint_spread.hpp), with the pulses of each at one reference, the middle of the mean window: the spec's bounds and
/// pulses are the mean's, device.joint_covariance is the covariance, update_noise the rms over devices, and other numbers of the shape are
/// their means. Errors of the single fits are in the covariance too (two-stage estimate; Davidian and Giltinan, Nonlinear Models for
/// Repeated Measurement Data, 1995, ch. 5). programming_error is the repeatability of pulses
/// sent blindly: the standard deviation over a device's cycles of the conductance reached by the same pulses, rms over pulses and
/// devices, of the window. A device's cycles must have the same pulses for that; devices that have not are left out of it.
/// UserError as fit_pulses(), naming the device.
PopulationFit fit_population(const std::vector<LabRecord>& records, const std::string& model, int points = 9);

/// add_intervals() of the only device; of several, how they differ says more.
void add_intervals(PopulationFit& fit, const std::vector<LabRecord>& records);

/// As TOML for a configuration, with the intervals as comments.
std::string fit_toml(const PopulationFit& fit, const std::string& source);

/// The table of estimates for people.
std::string population_text(const PopulationFit& fit);

}  // namespace nudge
