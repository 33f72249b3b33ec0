// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <optional>
#include <string>
#include <vector>

#include "devices/device_spec.hpp"
#include "devices/fit/fit_numbers.hpp"
#include "devices/fit/pulse_law.hpp"
#include "devices/fit/residual_vector.hpp"
#include "sim/base/matrix.hpp"

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

/// What is left of a likelihood's dependence on noise once the numbers of the model are integrated out: ln det of their information, as
/// restricted maximum likelihood has it (Patterson and Thompson, Biometrika 58:545 (1971); Cox and Reid, J. R. Stat. Soc. B 49:1 (1987)). Without
/// it a curve that bends after noise of pulses leaves too little of that, and intervals are too narrow.
/// Information times κ² = σ_r² + s² σ_u² depends on the ratio of both noises alone: −2 · determined · ln κ + h(ln(s σ_u/σ_r)), h in a table, s
/// a mean pulse, or that at the reference where the law's noise is of that size everywhere. Beyond e times the ratio around which it was made h is constant: where noise of pulses stands for the whole record nothing of
/// the curve is determined, and Laplace's approximation is none.
struct NoisePenalty {
  double determined = 0;  ///< numbers that the record, and not what is expected of them, determines
  double log_pulse = 0;   ///< ln(s/range)
  double ratio = 0;       ///< around which it was made
  std::vector<double> h = {};

  static constexpr double first = -6, step = 1;  ///< of the table
  static constexpr int places = 12;
  /// Of ln(s σ_u/range) and ln(σ_r/range), above its minimum; > 0 while noise is below the range.
  double of(double log_pulses, double log_read) const;
};

/// The deviance of records as a sum of squares over the coordinates of fit_numbers(), then ln update_noise, ln(read_noise/range) and, with slow
/// noise of reads, ln(its deviation/range) and ln(pulses that it lasts): for each read e/√S and √(1 + ln(S/floor²)), of the range, then what each coordinate is off what is expected of it, over its deviation, or, of noise, √(2 ln(10⁴/σ)): a prior
/// that grows with σ (gamma, shape 2, rate 0), which keeps estimates of noise off 0 by about one standard error (Chung, Rabe-Hesketh, Dorie, Gelman and Liu,
/// Psychometrika 78:685 (2013)). Without it a curve that bends after noise of pulses leaves none of that: the estimate piles up at 0, and all intervals are
/// too narrow; and the NoisePenalty. Some coordinate may be held.
class PulseResiduals : public ResidualVector {
 public:
  PulseResiduals(const DeviceSpec& spec, const FitNumbers& numbers, const std::vector<PulseRecord>& records,
                 ReadNoiseKind kind);

  Index inputs() const override { return size() - (held_ < 0 ? 0 : 1); }
  Index values() const override { return 2 * reads_ + size() + 1; }
  void residuals(const Eigen::VectorXd& x, Eigen::VectorXd& r) const override;
  ForwardDifferences differences() const override;

  Index size() const { return noise_ + (slow_ ? 4 : 2); }
  Index reads() const { return reads_; }
  /// Coordinate of ln update_noise; that of ln read_noise is the next.
  Index noise_at() const { return noise_; }
  double range_S() const { return range_S_; }

  /// From now on with the penalty of noise around these coordinates.
  void penalise(const Eigen::VectorXd& all);

  /// Holds coordinate k at a value; −1: none.
  void hold(Index k, double value) { held_ = k, held_value_ = value; }
  Eigen::VectorXd without_held(const Eigen::VectorXd& all) const;
  Eigen::VectorXd with_held(const Eigen::VectorXd& x) const;

  /// Of all coordinates: errors and variances of prediction, of the range. False where they make no device.
  bool predict(const Eigen::VectorXd& all, Eigen::VectorXd& error, Eigen::VectorXd& variance) const;
  /// Fisher's information of what was read, and of what is expected.
  Eigen::MatrixXd information(const Eigen::VectorXd& all) const;
  /// What is expected of coordinate k, as part of what is minimised.
  double off_expected(const Eigen::VectorXd& all, Index k) const;
  /// −2 ln L of the reads; with what is expected, what is minimised.
  double deviance(const Eigen::VectorXd& all, bool expected) const;

  /// Minimises over the coordinates that are not held, in place, by Levenberg–Marquardt; begun anew up to `rounds` times while that gains,
  /// it takes steps of another scale, which leads out of narrow bends.
  void descend(Eigen::VectorXd& all, int rounds) const;

  DeviceSpec spec_of(const Eigen::VectorXd& all) const;
  RecordNoise noise_of(const Eigen::VectorXd& all) const;
  /// Those of the model and of noise.
  const std::vector<FitNumber>& all_numbers() const { return all_; }

 private:
  std::vector<FitNumber> numbers_of_noise() const;
  double penalty(const Eigen::VectorXd& all) const;
  double log_pulse(const Eigen::VectorXd& all) const;
  /// Short records are not worth a second thread.
  int threads() const { return reads_ < 1000 ? 1 : 0; }

  const DeviceSpec* spec_;
  const FitNumbers* numbers_;
  std::vector<FitNumber> all_;
  Eigen::VectorXd expected_, weight_;  ///< of each coordinate, and one over its deviation
  const std::vector<PulseRecord>* records_;
  Index reads_ = 0, held_ = -1, noise_;
  bool slow_;
  double range_S_, held_value_ = 0;
  NoisePenalty penalty_ = {};
};

}  // namespace nudge
