// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "devices/device_spec.hpp"
#include "devices/fit/fit_numbers.hpp"
#include "devices/fit/record_noise.hpp"

namespace nudge {

/// A number of a fit with its 95 % interval. An end that the record does not close is absent: a bound that no pulse came near, noise
/// that may be none.
struct FittedNumber {
  std::string name;  ///< as FitNumber's; "update_noise" and "read_noise" (S) too
  std::string unit;
  double value = 0;
  std::optional<double> low = {}, high = {};
};

/// Noise of reads in a fit: white, or white and one SlowReadNoise.
enum class ReadNoiseKind { white, white_and_slow };

/// A model at the largest likelihood of some records of one device.
struct LikelihoodFit {
  DeviceSpec spec;         ///< update_noise among it
  RecordNoise noise;       ///< of reads too
  double deviance = 0;     ///< −2 ln L of the reads over their range
  std::size_t values = 0;  ///< reads behind a pulse
  int numbers = 0;         ///< that were fitted
  /// Of the errors of prediction, each over its deviation, from one pulse to the next: 0 where the model and its noise are the record's.
  double innovation_correlation = 0;
  FitNumbers coordinates = {};
  ReadNoiseKind kind = ReadNoiseKind::white;
  Eigen::VectorXd at = {};                   ///< PulseResiduals' coordinates
  std::vector<Eigen::VectorXd> others = {};  ///< where the searches from other guesses and starts ended

  /// Ten reads to a number: fewer leave the numbers no normal distribution to integrate over (NoisePenalty).
  bool is_long() const;
  /// White errors of prediction, and noise of pulses smaller than a pulse: nothing wanders that slow noise would explain.
  bool is_plain() const;
  double akaike() const { return deviance + 2.0 * numbers; }
  double schwarz() const;
};

/// Moves the numbers of a model, its update noise and the noise of reads to the largest likelihood of filter_pulses(), from each guess and
/// each of the starts of fit_numbers(); the best counts. Slow noise of reads is in it where Schwarz's criterion pays for its two numbers: without
/// it, noise of pulses has to stand for whatever wanders, and bends the curve after it. By Levenberg–Marquardt (Eigen's MINPACK; Moré, Lecture Notes in Mathematics
/// 630:105 (1978)): e²/S + ln S is a sum of two squares once ln S is counted from a floor, here 1e-6 of the range, and there are eight to
/// twenty numbers, for which a Gauss–Newton method takes tens of evaluations where one without residuals takes thousands.
LikelihoodFit largest_likelihood(const std::vector<DeviceSpec>& guesses, const std::vector<PulseRecord>& records);

/// Intervals by the profile of the likelihood: the values of a number for which −2 ln L, least over all others, is within
/// (n − p) ln(1 + t²/(n − p)) of its minimum, t = t(0.975, n − p), p of n reads being what the record's numbers take (NoisePenalty). That is
/// Student's interval where values are linear in p numbers, and χ²(0.95, 1) = 3.84 for large n (Venzon and Moolgavkar,
/// J. R. Stat. Soc. C 37:87 (1988)). In records that are not long it is n ln(1 + 3 F(0.95; 3, n − p)/(n − p)), the region of a number and
/// both noises (of tables, with and without NoisePenalty, the wider end); the upper end of noise is that of χ². In long records that do not reach a bound it is the region of a number and that
/// bound (2 F(0.95; 2, n − p)), and deeper by what errors of prediction with heavy tails ask for. Where the likelihood has other maxima so close, as with a curve that bends the other way or a bound
/// farther out, an interval spans them.
/// Values of tables, which lean on what is expected of a table, are left out. Moves `fit` should a better one be met.
std::vector<FittedNumber> profile_intervals(LikelihoodFit& fit, const std::vector<PulseRecord>& records);

}  // namespace nudge
