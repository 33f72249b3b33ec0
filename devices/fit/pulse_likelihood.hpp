// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <optional>
#include <string>
#include <vector>

#include "devices/device_spec.hpp"
#include "devices/fit/fit_numbers.hpp"
#include "devices/fit/pulse_filter.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Profile of the likelihood of one number of one device, on the scale of FitNumber::scaled().
struct NumberProfile {
  struct Point {
    double at, rise;  ///< place, and rise of −2 ln L above its minimum
  };
  std::vector<Point> points = {};  ///< places that the search for the interval has met, unordered
  bool open_low = false, open_high = false;
  int joint = 1;                    ///< count of numbers that the interval's region holds together
  double counted = 0, freedom = 0;  ///< values that count, and what the numbers leave of them
};

/// Number of a fit with its 95 % interval. An end that the record does not determine is absent: a bound that no pulse came
/// near, noise that may be none.
struct FittedNumber {
  std::string
      name;  ///< as FitNumber's; "update_noise", "update_noise_floor_up", "read_noise" (S) and "relative_read_noise" too
  std::string unit;
  double value = 0;
  std::optional<double> low = {}, high = {};
  NumberProfile profile = {};  ///< of a single device
};

/// Noise in a fit beside noise of pulses as a share of each pulse and white noise of reads.
struct NoiseKind {
  bool slow = false;        ///< one SlowReadNoise
  bool floor = false;       ///< noise of pulses of one size everywhere, of each direction (RecordNoise)
  bool read_share = false;  ///< noise of reads that grows with the conductance (RecordNoise::read_share)

  bool operator==(const NoiseKind&) const = default;
  /// True if another kind has nothing that this one has not.
  bool has(const NoiseKind& other) const {
    return slow >= other.slow && floor >= other.floor && read_share >= other.read_share;
  }
};

/// Kinds of noise that a fit may not choose by itself; nothing: it may choose.
struct ToldNoise {
  std::optional<bool> floor = {}, read_share = {};
};

/// Penalty of a likelihood's dependence on noise after the numbers of the model are integrated out. It is ln det of their
/// information, as in restricted maximum likelihood (Patterson and Thompson, Biometrika 58:545 (1971)). Cox and Reid, J. R. Stat. Soc. B
/// 49:1 (1987), have the general case. Without it a curve that bends after noise of pulses leaves too little of that noise, and intervals are too narrow.
///
/// Information times κ² = σ_r² + s² σ_u² depends on the ratio of both noises alone: −2 · determined · ln κ + h(ln(s
/// σ_u/σ_r)), h in a table. s is a mean pulse, or the pulse at the reference where the law's noise is of that size
/// everywhere. s σ_u stands for both noises of pulses, σ_r for both of reads at the mean conductance. h is constant beyond e times the ratio around which it was made. Where noise of pulses stands for the whole
/// record, nothing of the curve is determined, and Laplace's approximation does not hold.
struct NoisePenalty {
  double determined = 0;  ///< count of numbers that the record determines, not only their expectation
  double log_pulse = 0;   ///< ln(s/range)
  double ratio = 0;       ///< ratio around which the table was made
  std::vector<double> h = {};

  static constexpr double first = -6, step = 1;  ///< ln of the first ratio of the table, and its step
  static constexpr int places = 12;
  /// Penalty at ln(s σ_u/range) and ln(σ_r/range), above its minimum; > 0 while noise is below the range.
  double of(double log_pulses, double log_read) const;
};

/// Model at the largest likelihood of some records of one device.
struct LikelihoodFit {
  DeviceSpec spec;         ///< fitted spec, with update_noise
  RecordNoise noise;       ///< noise of pulses and of reads
  double deviance = 0;     ///< −2 ln L of the reads over their range
  std::size_t values = 0;  ///< number of reads after a pulse or a wait
  int numbers = 0;         ///< count of fitted numbers
  /// Correlation from one pulse to the next of the prediction errors, each over its deviation: 0 where model and noise are the record's.
  double innovation_correlation = 0;
  FitNumbers coordinates = {};
  NoiseKind kind = {};
  NoisePenalty penalty = {};                 ///< penalty of noise under which a long record was fitted
  Eigen::VectorXd at = {};                   ///< fit in the coordinates of PulseResiduals
  std::vector<Eigen::VectorXd> others = {};  ///< ends of the searches from other guesses and starts
  /// Up to two fits with other kinds of noise that Schwarz's criterion does not rule out: at most 6 above, odds of 1 in 20. Each has
  /// something that this one has not. Intervals span them.
  std::vector<LikelihoodFit> rivals = {};

  /// True with ten reads to a number: fewer leave the numbers no normal distribution to integrate over (NoisePenalty).
  bool is_long() const;
  /// True if prediction errors are white and noise of pulses is smaller than a pulse, or if both noises are negligible:
  /// nothing wanders that slow noise would explain.
  bool is_plain() const;
  double akaike() const { return deviance + 2.0 * numbers; }
  double schwarz() const;
};

/// Moves the numbers of a model, its update noise and the noise of reads to the largest likelihood of filter_pulses(). It begins at each
/// guess and at each of the starts of fit_numbers(), and the best counts. Slow noise of reads is included where Schwarz's criterion
/// pays for its two numbers. Without it, noise of pulses has to stand for whatever wanders, and bends the curve after it. Noise of pulses of one size everywhere,
/// and noise of reads that grows with the conductance, are included in the same way, or as told. The device has one such noise of pulses: the rms of both directions.
///
/// The method is Fisher's scoring (PulseResiduals::descend()): for eight to twenty numbers it takes tens of evaluations, where one
/// without residuals takes thousands.
LikelihoodFit largest_likelihood(const std::vector<DeviceSpec>& guesses, const std::vector<PulseRecord>& records,
                                 const ToldNoise& told = {});

/// Sets deviance and innovation_correlation of a fit whose place a search has moved: the deviance is the least of the reads alone.
void renew_criteria(LikelihoodFit& fit, const std::vector<PulseRecord>& records);

/// Intervals by the profile of the likelihood: the values of a number for which −2 ln L, least over all others, is within (n
/// − p) ln(1 + t²/(n − p)) of its minimum. Here t = t(0.975, n − p), and p of n reads are taken by the record's numbers
/// (NoisePenalty). That is Student's interval where values are linear in p numbers, and χ²(0.95, 1) = 3.84 for large n
/// (Venzon and Moolgavkar, J. R. Stat. Soc. C 37:87 (1988)).
///
/// In records that are not long it is n ln(1 + 3 F(0.95; 3, n − p)/(n − p)), the region of a number and both noises. Tables take the
/// wider of the ends with and without NoisePenalty. Noise ends above at the quantile of χ². In long records that do not reach a bound
/// it is the region of a number and that bound (2 F(0.95; 2, n − p)), deeper where prediction errors have heavy tails. Where the
/// likelihood has other maxima so close, as with a curve that bends the other way or a bound farther out, an interval spans them.
///
/// Values of tables, which lean on their expected values, are left out. Moves `fit` should a better maximum be met.
std::vector<FittedNumber> profile_intervals(LikelihoodFit& fit, const std::vector<PulseRecord>& records);

/// Depth of a 95 % region: of `joint` numbers on which `counted` values depend linearly, −2 ln L rises by n ln(1 + j F/f) to its
/// surface (j = 1: Student's interval).
double depth_of(int joint, double counted, double freedom);

/// Rise of −2 ln L from its maximum to the end of the interval of a noise σ at the quantile `share` of χ². The rest of `counted`
/// values has σ² χ² of `freedom`: n (ln(n/χ²) + χ²/n − 1).
double depth_of_noise(double counted, double freedom, double share);

}  // namespace nudge
