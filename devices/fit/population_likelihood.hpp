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

/// Mean μ and deviation τ of a number u over two or more devices, from the profile of the likelihood of each.
///
/// A device's profile may be flat up to an edge, as of a bound that no read reached, and the truth often is at that edge. A sum of such
/// profiles would count every device's gain within its edge as evidence against it. So each end of μ comes from the edges y_i of that side
/// alone, as a random-effects meta-analysis has it. The root of a rise, over that at the end of a device's interval, is the normal score z. The edge is
/// where the line through the end and half of its score has z = 0; of a parabola that is the most likely value. The device's error
/// s_i is the distance from z = 0 to z = 1. τ² has Σ (y_i − ȳ)²/(τ² + s_i²) = n − 1 (Paule and Mandel, J. Res. Natl. Bur.
/// Stand. 87:377 (1982)).
///
/// End of μ: where the distances d_i = s_i z_i(μ), with weights w_i = 1/(τ² + s_i²), have Student's t of n − 1 degrees,
///
///     t² = d̄² Σ w_i / q,    q = Σ w_i (d_i − d̄)²/(n − 1)
///
/// (Knapp and Hartung, Stat. Med. 22:2693 (2003)). q is at least what the errors alone make of it. Here 1/s_i is the slope of z_i at μ: at its own number
/// a device's error may depend on that number, and weights would then move the mean. The weights' τ has the lower quartile of χ² as its sum. Within
/// its edge a device's score is the mirrored one. A device that is open on the side has a score that stays below its end's: it says little, and μ is
/// open where few devices close the side.
///
/// Interval of τ: the sum at τ is within the quantiles of χ² (Viechtbauer, Stat. Med. 26:37 (2007)), of the side where it is wider. A flat profile
/// adds its half width, as devices may lie anywhere in it.
///
/// A device whose region holds j numbers together (NumberProfile::joint) gains depth_of(j) − depth_of(1) by chance at its
/// maximum, as where a bound lies at the best of many outermost reads. Its profile is flat up to this depth.
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
