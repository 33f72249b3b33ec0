// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "devices/fit/fit_numbers.hpp"
#include "devices/fit/pulse_filter.hpp"
#include "devices/fit/pulse_likelihood.hpp"
#include "devices/fit/residual_vector.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

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
