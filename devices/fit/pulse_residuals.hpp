// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <vector>

#include "devices/fit/pulse_likelihood.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Derivatives of errors and variances of prediction by every coordinate, of the range: reads × coordinates.
struct PulseSlopes {
  Eigen::MatrixXd errors, variances;
};

/// Deviance of records over the coordinates of fit_numbers(), then ln update_noise, ln(read_noise/range) and, with slow noise of reads,
/// ln(its deviation/range) and ln(pulses that it lasts). Then come ln update_noise_floor of each measured direction and ln relative_read_noise, where the kind has them. Each read gives e²/S + ln S, of the range.
/// Each coordinate gives the square of its distance from its expected value, over its deviation; noise of reads σ gives 2 ln(10⁴/σ). That
/// is a prior which grows with σ (gamma, shape 2, rate 0). It keeps estimates of noise off 0 by about one standard error (Chung,
/// Rabe-Hesketh, Dorie, Gelman and Liu, Psychometrika 78:685 (2013)). Without it a curve that bends after noise of pulses leaves none of
/// that noise: the estimate piles up at 0, and all intervals are too narrow. The last term is the NoisePenalty. One coordinate may be held.
class PulseResiduals {
 public:
  /// Errors and variances of prediction of all reads, of the range.
  struct Prediction {
    explicit Prediction(Index reads) : error(reads), variance(reads) {}
    Eigen::VectorXd error, variance;
  };
  static constexpr double converged = 1e-3;  ///< of the deviance, whose intervals are 3.84 deep

  PulseResiduals(const DeviceSpec& spec, const FitNumbers& numbers, const std::vector<PulseRecord>& records,
                 NoiseKind kind);

  Index size() const { return share_at() + (kind_.read_share ? 1 : 0); }
  Index reads() const { return reads_; }
  /// Coordinate of ln update_noise, before the one of ln read_noise.
  Index noise_at() const { return noise_; }
  /// First coordinates of ln update_noise_floor and of ln relative_read_noise, behind slow noise.
  Index floor_at() const { return noise_ + (kind_.slow ? 4 : 2); }
  Index share_at() const { return floor_at() + (kind_.floor ? floors_ : 0); }
  double range_S() const { return range_S_; }

  /// Adds, from now on, the penalty of noise around these coordinates, or one that was made before.
  void penalise(const Eigen::VectorXd& all);
  void penalise(const NoisePenalty& penalty) { penalty_ = penalty; }
  const NoisePenalty& noise_penalty() const { return penalty_; }
  /// Ratio ln(s σ_u/σ_r) of both noises, around which a NoisePenalty is made.
  double noise_ratio(const Eigen::VectorXd& all) const { return log_pulse_noise(all) - log_read_noise(all); }

  /// Expects coordinate k, from now on, as a normal number with this mean and deviation.
  void expect(Index k, double mean, double deviation) { expected_[k] = mean, weight_[k] = 1 / deviation; }

  /// Holds coordinate k at a value; k = −1: none.
  void hold(Index k, double value) { held_ = k, held_value_ = value; }

  /// Prediction at all coordinates. False if they make no device.
  bool predict(const Eigen::VectorXd& all, Prediction& out) const;
  /// Fisher's information of the reads and of the expected values; `slopes` takes the derivatives that it is made of.
  Eigen::MatrixXd information(const Eigen::VectorXd& all, PulseSlopes* slopes = nullptr) const;
  /// Fisher's information from derivatives that are known.
  Eigen::MatrixXd information(const Eigen::VectorXd& all, const PulseSlopes& slopes) const;
  /// Contribution of the expected value of coordinate k to the minimised sum.
  double off_expected(const Eigen::VectorXd& all, Index k) const;
  /// Deviance −2 ln L of the reads; with `expected` also the terms of the expected values and the NoisePenalty, the sum of descend().
  double deviance(const Eigen::VectorXd& all, bool expected) const;

  /// Lowers the deviance with the expected values over the coordinates that are not held, in place, and returns it. It ends where the
  /// next move promises less than `enough`, or where three moves in turn have gained less.
  ///
  /// Fisher's scoring: each move is the least squares of e + e' δ over √S and of (e²/S − 1 − S'/S δ)/√2, whose normal matrix is the
  /// expected information. It is damped as in Marquardt, J. SIAM 11:431 (1963). With ln S as a square, as a method of least squares would
  /// have it, moves of noise are twice too long.
  ///
  /// Between two differences the slopes are corrected by what each move met, and the matrix stays. `kept`: slopes of a place nearby, or
  /// none; with them the end is not confirmed by differences.
  double descend(Eigen::VectorXd& all, double enough, PulseSlopes* kept = nullptr) const;

  DeviceSpec spec_of(const Eigen::VectorXd& all) const;
  RecordNoise noise_of(const Eigen::VectorXd& all) const;
  /// Numbers of the model and of noise.
  const std::vector<FitNumber>& all_numbers() const { return all_; }

 private:
  std::vector<FitNumber> numbers_of_noise() const;
  void apply(const Eigen::VectorXd& all, DeviceSpec& spec) const;
  bool is_size_of_read_noise(Index k) const { return k == noise_ + 1 || (kind_.slow && k == noise_ + 2); }
  /// Deviance with the expected values, and the prediction; infinite where the coordinates make no device.
  double deviance_of(const Eigen::VectorXd& all, Prediction& prediction) const;
  /// Derivatives by forward differences, at a place whose prediction is known: filter_lanes coordinates side by side.
  PulseSlopes slopes_at(const Eigen::VectorXd& all, const Prediction& here) const;
  Eigen::MatrixXd prior_rows(const Eigen::VectorXd& all, const std::vector<Index>& free) const;
  void slopes_from(Index first, const Eigen::VectorXd& all, const Prediction& here, DeviceSpec& scratch,
                   PulseSlopes& out) const;
  Eigen::MatrixXd triangle_of(const Eigen::VectorXd& all, const Prediction& here, const PulseSlopes& slope,
                              const std::vector<Index>& free) const;
  Eigen::VectorXd descent_of(const Eigen::VectorXd& all, const Prediction& here, const PulseSlopes& slope,
                             const std::vector<Index>& free) const;
  double penalty(const Eigen::VectorXd& all) const;
  double log_pulse(const Eigen::VectorXd& all) const;
  /// ln of all noise of a pulse, and of a read at the mean conductance, of the range.
  double log_pulse_noise(const Eigen::VectorXd& all) const;
  double log_read_noise(const Eigen::VectorXd& all) const;
  /// Threads to use: one for short records, which are not worth a second.
  int threads() const { return reads_ < 1000 ? 1 : 0; }

  const DeviceSpec* spec_;
  const DeviceModel* model_;
  const FitNumbers* numbers_;
  std::vector<FitNumber> all_;
  Eigen::VectorXd expected_, weight_;  ///< expected value of each coordinate, and one over its deviation
  const std::vector<PulseRecord>* records_;
  Index reads_ = 0, held_ = -1, noise_, floors_ = 2;  ///< floors_: measured directions
  NoiseKind kind_;
  double range_S_, mean_S_ = 0, held_value_ = 0;
  NoisePenalty penalty_ = {};
};

/// Factor by which −2 ln L of noise rises too fast where prediction errors have heavier tails than normal ones. Its score then varies
/// by (kurtosis − 1)/2 of what it should (quasi-likelihood; White, Econometrica 50:1 (1982)). It is 1 within three deviations of a normal
/// sample's kurtosis, √(24/n). Tails are heavy where a bound stops noise of pulses that reads without noise show, and where reads jump.
double heaviness_of_tails(const PulseResiduals& residuals, const Eigen::VectorXd& at);

}  // namespace nudge
