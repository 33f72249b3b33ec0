// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/pulse_filter.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

constexpr std::size_t most = RecordNoise::most_slow + 1;

/// Mean and covariance of the conductance (place 0) and of the slow noise of reads.
class Belief {
 public:
  Belief(const RecordNoise& noise, double first_S) : noise_(noise), size_(noise.slow.size() + 1) {
    NUDGE_EXPECT(size_ <= most);
    mean_[0] = first_S;
    at(0, 0) = noise.read_S * noise.read_S;
    for (std::size_t k = 1; k < size_; ++k) {
      const double variance = noise.slow[k - 1].sd_S * noise.slow[k - 1].sd_S;
      keep_[k] = std::exp(-1 / noise.slow[k - 1].pulses);
      at(k, k) = variance;
      at(0, 0) += variance;
      at(0, k) = at(k, 0) = -variance;  // what the first read owes to slow noise the conductance does not
    }
  }

  double conductance_S() const { return mean_[0]; }
  double variance_S2() const { return covariance_[0]; }

  /// A pulse: mean, variance and slope of where it takes the conductance.
  void pulse(double mean, double variance, double slope) {
    mean_[0] = mean;
    at(0, 0) = variance;
    for (std::size_t k = 1; k < size_; ++k) {
      mean_[k] *= keep_[k];
      at(0, k) = at(k, 0) = slope * keep_[k] * at(0, k);
      for (std::size_t l = 1; l < size_; ++l) at(k, l) *= keep_[k] * keep_[l];
      at(k, k) += (1 - keep_[k] * keep_[k]) * noise_.slow[k - 1].sd_S * noise_.slow[k - 1].sd_S;
    }
  }

  double predicted_S() const {
    double sum = 0;
    for (std::size_t k = 0; k < size_; ++k) sum += mean_[k];
    return sum;
  }

  /// A read that differs from predicted_S() by `error`; returns the variance of that.
  double read(double error) {
    std::array<double, most> seen{};  // covariance of each with the read
    double total = noise_.read_S * noise_.read_S;
    for (std::size_t k = 0; k < size_; ++k) {
      for (std::size_t l = 0; l < size_; ++l) seen[k] += at(k, l);
      total += seen[k];
    }
    for (std::size_t k = 0; k < size_; ++k) {
      mean_[k] += seen[k] / total * error;
      for (std::size_t l = 0; l < size_; ++l) at(k, l) -= seen[k] * seen[l] / total;
    }
    at(0, 0) = std::max(at(0, 0), 0.0);  // rounding
    return total;
  }

 private:
  double& at(std::size_t k, std::size_t l) { return covariance_[k * most + l]; }

  const RecordNoise& noise_;
  std::size_t size_;
  std::array<double, most> mean_{}, keep_{};
  std::array<double, most * most> covariance_{};
};

}  // namespace

void filter_pulses(PulseLaw& law, const PulseRecord& record, const RecordNoise& noise,
                   Eigen::Ref<Eigen::VectorXd> error_S, Eigen::Ref<Eigen::VectorXd> variance_S2) {
  constexpr PulseLaw::Places weights = {2.0 / 3, 1.0 / 6, 1.0 / 6};
  Belief belief(noise, record.conductance_S[0]);
  for (std::size_t i = 1; i < record.conductance_S.size(); ++i) {
    const double at = belief.conductance_S();
    const double far = std::sqrt(3 * belief.variance_S2());
    PulseLaw::Places from = {at, at + far, at - far};
    for (double& g : from) g = std::clamp(g, law.lower_S(), law.upper_S());
    PulseLaw::Places to = from;
    law.move(record, i, to);
    std::array<PulseEnd, to.size()> moved;
    double mean = 0, variance = 0;
    for (std::size_t k = 0; k < to.size(); ++k) {
      moved[k] = law.ends(record, i, from[k], to[k], noise.update);
      mean += weights[k] * moved[k].mean;
    }
    for (std::size_t k = 0; k < to.size(); ++k) {
      variance += weights[k] * ((moved[k].mean - mean) * (moved[k].mean - mean) + moved[k].variance);
    }
    const double slope = far > 0 ? (moved[1].mean - moved[2].mean) / (2 * far) : 0;
    belief.pulse(mean, variance, slope);
    const auto row = static_cast<Eigen::Index>(i) - 1;
    error_S[row] = record.conductance_S[i] - belief.predicted_S();
    variance_S2[row] = belief.read(error_S[row]);
  }
}

}  // namespace nudge
