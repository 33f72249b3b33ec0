// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "devices/fit/fit_pulses.hpp"

namespace nudge {

/// Mean and standard deviation over devices of one number, on the scale of FitNumber::scaled(), with intervals of 95 %. An end
/// that the devices do not determine is absent.
struct NumberOverDevices {
  double mean = 0, deviation = 0;
  std::optional<double> mean_low = {}, mean_high = {};
  std::optional<double> deviation_low = {}, deviation_high = {};
};

/// Mean μ and deviation τ of a number u over two or more devices, from the profile of the likelihood of each. A device's number
/// is drawn from N(μ, τ²), and it is integrated out:
///
///     −2 ln L(μ, τ) = −2 Σ_i ln ∫ exp(−D_i(u)/2) N(u; μ, τ²) du
///
/// with D_i the rise of device i's −2 ln L (hierarchical model; Davidian and Giltinan, Nonlinear Models for Repeated Measurement
/// Data, 1995, ch. 4; likelihoods of single devices as profiles: Reid, Stat. Sci. 15:138 (2000)). A device that does not
/// determine its number has a flat D_i and says nothing; where none of them closes a side, μ is open on that side.
///
/// A device whose region holds j numbers together (NumberProfile::joint) gains depth_of(j) − depth_of(1) by chance at its
/// maximum, as where a bound lies at the best of many outermost reads. Its D_i is flat up to this depth. Else the gains of all
/// devices, whose records end at about the same conductance, add up to evidence against the truth.
///
/// Interval of μ: the rise of −2 ln L, least over τ, is within depth_of(1, n, n − 1), which is Student's interval where each
/// device knows its number. n counts the devices that close the side, at least 2. Interval of τ: χ² for a standard deviation
/// (depth_of_noise()). `deviation` is √(n/(n − 1)) times the most likely τ.
NumberOverDevices number_over_devices(const std::vector<NumberProfile>& devices);

/// Number of a model or of noise over the devices of a population.
struct SharedNumber {
  FitNumber number;  ///< of the first device
  NumberOverDevices over = {};
};

/// Numbers that have a profile in every device's intervals. cycles: records of the first device.
std::vector<SharedNumber> shared_numbers(const std::vector<DeviceFit>& each, const std::vector<PulseRecord>& cycles);

/// Device with records `cycles`. A number that its own record leaves open, but the population does not, is expected around the
/// population's. It is fitted again with all others (empirical Bayes). A device without such numbers stays as it is.
PulseFit fit_among(const PulseFit& alone, const std::vector<PulseRecord>& cycles,
                   const std::vector<SharedNumber>& shared);

/// Profile of ln(down/up) of a device that closes both pulses: a parabola whose half width takes both logarithms as
/// independent.
std::optional<NumberProfile> ratio_profile(const PulseFit& fit);

}  // namespace nudge
