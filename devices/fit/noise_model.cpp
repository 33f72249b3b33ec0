// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_noise.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <unsupported/Eigen/FFT>

#include "devices/fit/residual_vector.hpp"
#include "sim/base/decompositions.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {
namespace {

constexpr std::size_t first_value = 2;  // below, a Hann window shows the mean
constexpr std::size_t least_values = 32;
constexpr double band_ratio = 1.4142135623730951;  // half an octave
constexpr double hann_correlation = 35.0 / 18;     // n Σw⁴/(Σw²)²
constexpr std::size_t most_points = 16;

/// Largest number up to n without prime factors above 5: others cost n² in the transform.
std::size_t smooth_length(std::size_t n) {
  for (;; --n) {
    std::size_t rest = n;
    for (const std::size_t p : {2, 3, 5}) {
      while (rest % p == 0) rest /= p;
    }
    if (rest == 1) return n;
  }
}

std::vector<double> periodogram(const std::vector<double>& samples, std::size_t n, double interval_s) {
  double mean = 0;
  for (std::size_t t = 0; t < n; ++t) mean += samples[t] / static_cast<double>(n);
  std::vector<double> windowed(n);
  for (std::size_t t = 0; t < n; ++t) {
    const double w = 2 * std::pow(std::sin(M_PI * static_cast<double>(t) / static_cast<double>(n)), 2);
    windowed[t] = w * (samples[t] - mean);
  }
  Eigen::FFT<double> transform;
  std::vector<std::complex<double>> values;
  transform.fwd(values, windowed);
  const double scale = 2 * interval_s / static_cast<double>(n) * 2 / 3;
  std::vector<double> powers;
  for (std::size_t k = 0; k < (n + 1) / 2; ++k) powers.push_back(scale * std::norm(values[k]));
  return powers;
}

}  // namespace

double spectrum_error_dB(const SpectrumBand& band) { return 10 / std::log(10.0) / std::sqrt(band.values); }

std::vector<SpectrumBand> banded_spectrum(const std::vector<double>& samples, double interval_s) {
  const std::size_t n = smooth_length(samples.size());
  const std::vector<double> powers = periodogram(samples, n, interval_s);
  const auto frequency = [&](std::size_t k) { return static_cast<double>(k) / (static_cast<double>(n) * interval_s); };
  std::vector<SpectrumBand> bands;
  std::size_t end = 0;
  for (std::size_t k = first_value; k < powers.size(); k = end) {
    end = std::max(k + least_values, static_cast<std::size_t>(std::ceil(band_ratio * static_cast<double>(k))));
    if (end + least_values / 2 > powers.size()) end = powers.size();  // no remainder of a few values
    SpectrumBand band;
    band.frequency_Hz = std::sqrt(frequency(k) * frequency(end - 1));
    double sum = 0;
    double squares = 0;
    for (std::size_t j = k; j < end; ++j) {
      band.psd += powers[j] / static_cast<double>(end - k);
      sum += 1 / frequency(j);
      squares += 1 / (frequency(j) * frequency(j));
    }
    band.values = sum * sum / squares / hann_correlation;
    const std::size_t points = std::min(most_points, end - k);
    for (std::size_t p = 0; p < points; ++p) {
      const double place = (static_cast<double>(p) + 0.5) / static_cast<double>(points);
      band.points_Hz.push_back(frequency(k) + (place * static_cast<double>(end - k) - 0.5) * frequency(1));
    }
    bands.push_back(std::move(band));
  }
  return bands;
}

namespace {

using Vector = Eigen::VectorXd;

constexpr double shape_error_dB = 0.5;
constexpr double step = 1e-5;  // of a forward difference, in logarithms
constexpr int rounds = 400;    // evaluations of a start
constexpr double z95 = 1.959963984540054;
constexpr int plain_numbers = 3;
constexpr int trap_numbers = 5;
constexpr int trap_starts = 7;

/// Maps any real x to (low, high), and back: bounds that a solver without bounds keeps.
double bounded(double x, double low, double high) { return low + (high - low) / (1 + std::exp(-x)); }
double unbounded(double value, double low, double high) { return std::log((value - low) / (high - value)); }

constexpr double lowest_exponent = 0.05;
constexpr double highest_exponent = 1.95;

/// Spectrum of a process of variance 1 and correlation exp(−t/τ), sampled every dt: 2 dt (1 − c²)/(1 − 2c cos 2πf dt + c²), c
/// = exp(−dt/τ). It is the Lorentzian 4τ/(1 + (2πfτ)²) with the frequencies that sampling folds into the band.
double sampled_lorentzian(double frequency_Hz, double interval_s, double tau_s) {
  const double c = std::exp(-interval_s / tau_s);
  const double gap = -std::expm1(-interval_s / tau_s);
  // 1 − 2c cos ω + c² = (1 − c)² + 4c sin²(ω/2): exact also where c is nearly 1.
  const double sine = std::sin(M_PI * frequency_Hz * interval_s);
  return 2 * interval_s * gap * (1 + c) / (gap * gap + 4 * c * sine * sine);
}

/// Residuals as a function of ln σ, ln Q, α bounded, and of ln √V and ln τ_c bounded.
class NoiseResiduals : public ResidualVector {
 public:
  NoiseResiduals(const std::vector<SpectrumBand>& bands, const NoiseModel& frame, bool trap)
      : bands_(&bands), frame_(&frame), trap_(trap) {
    lowest_trap_ = std::log(frame.interval_s / 3);
    highest_trap_ = std::log(1 / (2 * M_PI * bands.front().points_Hz.front()));
    for (const SpectrumBand& band : bands) {
      for (const double tau : frame.times_s) lorentzians_.push_back(mean_lorentzian(band, tau));
    }
  }

  Index inputs() const override { return trap_ ? trap_numbers : plain_numbers; }
  Index values() const override { return static_cast<Index>(bands_->size()); }
  ForwardDifferences differences() const override { return {step}; }
  double lowest_trap() const { return lowest_trap_; }
  double highest_trap() const { return highest_trap_; }

  NoiseModel model(const Vector& x) const {
    NoiseModel m = *frame_;
    m.white.value = std::exp(std::clamp(x[0], -700.0, 100.0));
    m.flicker.value = std::exp(std::clamp(x[1], -300.0, 100.0));
    m.exponent.value = bounded(x[2], lowest_exponent, highest_exponent);
    if (!trap_) return m;
    m.trap_sigma.value = std::exp(std::clamp(x[3], -300.0, 100.0));
    m.trap_s.value = std::exp(bounded(x[4], lowest_trap_, highest_trap_));
    return m;
  }

  void residuals(const Vector& x, Vector& r) const override {
    const NoiseModel m = model(x);
    std::vector<double> variances;
    for (const double tau : m.times_s) {
      variances.push_back(flicker_variance(m.flicker.value, m.exponent.value, tau));
    }
    for (Index i = 0; i < r.size(); ++i) {
      const SpectrumBand& band = (*bands_)[static_cast<std::size_t>(i)];
      const double* lorentzians = lorentzians_.data() + static_cast<std::size_t>(i) * variances.size();
      double psd = 2 * m.interval_s * m.white.value * m.white.value;
      for (std::size_t k = 0; k < variances.size(); ++k) psd += variances[k] * lorentzians[k];
      if (trap_) psd += m.trap_sigma.value * m.trap_sigma.value * mean_lorentzian(band, m.trap_s.value);
      // The logarithm of a mean of n exponential values lies 1/(2n) below that of their expectation.
      const double off = 10 * std::log10(band.psd / psd) + 10 / std::log(10.0) / (2 * band.values);
      r[i] = off / std::hypot(spectrum_error_dB(band), shape_error_dB);
    }
  }

 private:
  double mean_lorentzian(const SpectrumBand& band, double tau_s) const {
    double sum = 0;
    for (const double f : band.points_Hz) sum += sampled_lorentzian(f, frame_->interval_s, tau_s);
    return sum / static_cast<double>(band.points_Hz.size());
  }

  const std::vector<SpectrumBand>* bands_;
  const NoiseModel* frame_;
  bool trap_;
  double lowest_trap_, highest_trap_;
  std::vector<double> lorentzians_ = {};  ///< lorentzian of each band and τ_k
};

struct Found {
  Vector x = {};
  double square = std::numeric_limits<double>::infinity();
};

void try_from(const NoiseResiduals& residuals, Vector x, Found& best) {
  descend(residuals, {rounds, 1e-9, 1e-9}, x);
  Vector r(residuals.values());
  residuals.residuals(x, r);
  if (std::isfinite(r.squaredNorm()) && r.squaredNorm() < best.square) best = {x, r.squaredNorm()};
}

/// The band whose frequency is nearest in ratio.
const SpectrumBand& band_at(const std::vector<SpectrumBand>& bands, double frequency_Hz) {
  return *std::min_element(bands.begin(), bands.end(), [=](const SpectrumBand& a, const SpectrumBand& b) {
    return std::abs(std::log(a.frequency_Hz / frequency_Hz)) < std::abs(std::log(b.frequency_Hz / frequency_Hz));
  });
}

Found search(const NoiseResiduals& residuals, const std::vector<SpectrumBand>& bands, double interval_s) {
  Found best;
  const SpectrumBand& middle = bands[bands.size() / 2];
  const double white = std::log(std::sqrt(bands.back().psd / (2 * interval_s)));
  for (const double exponent : {0.7, 1.3}) {
    Vector x(residuals.inputs());
    const double q = std::sqrt(middle.psd * std::pow(middle.frequency_Hz, exponent));
    x.head(plain_numbers) << white, std::log(q), unbounded(exponent, lowest_exponent, highest_exponent);
    if (residuals.inputs() == plain_numbers) {
      try_from(residuals, x, best);
      continue;
    }
    const double low = residuals.lowest_trap();
    const double high = residuals.highest_trap();
    for (int k = 1; k <= trap_starts; ++k) {
      const double place = low + (high - low) * k / (trap_starts + 1);
      const double tau = std::exp(place);
      // Half of the spectrum at its knee, where a Lorentzian is 2 V τ.
      x[3] = std::log(std::sqrt(0.5 * band_at(bands, 1 / (2 * M_PI * tau)).psd / (2 * tau)));
      x[4] = unbounded(place, low, high);
      try_from(residuals, x, best);
    }
  }
  return best;
}

/// Values and intervals at x, from the curvature of the squares there.
NoiseModel with_intervals(const NoiseResiduals& residuals, const Vector& x) {
  Eigen::MatrixXd jacobian(residuals.values(), residuals.inputs());
  residuals.jacobian(x, jacobian);
  Eigen::MatrixXd curvature = jacobian.transpose() * jacobian;
  curvature.diagonal().array() += 1e-12;  // a number that does not matter has a wide interval, not none
  const Vector error = inverse(curvature).diagonal().cwiseMax(0).cwiseSqrt();
  NoiseModel m = residuals.model(x);
  for (Index k = 0; k < x.size(); ++k) {
    Vector below = x;
    Vector above = x;
    const double reach = std::min(z95 * error[k], 50.0);
    below[k] -= reach;
    above[k] += reach;
    const NoiseModel low = residuals.model(below);
    const NoiseModel high = residuals.model(above);
    constexpr NoiseEstimate NoiseModel::*numbers[] = {&NoiseModel::white, &NoiseModel::flicker, &NoiseModel::exponent,
                                                      &NoiseModel::trap_sigma, &NoiseModel::trap_s};
    NoiseEstimate& estimate = m.*numbers[k];
    estimate.low = (low.*numbers[k]).value;
    estimate.high = (high.*numbers[k]).value;
  }
  return m;
}

}  // namespace

double NoiseModel::psd(double frequency_Hz) const {
  double sum = 2 * interval_s * white.value * white.value;
  for (const double tau : times_s) {
    sum += flicker_variance(flicker.value, exponent.value, tau) * sampled_lorentzian(frequency_Hz, interval_s, tau);
  }
  if (!has_trap()) return sum;
  return sum + trap_sigma.value * trap_sigma.value * sampled_lorentzian(frequency_Hz, interval_s, trap_s.value);
}

double NoiseModel::psd(const SpectrumBand& band) const {
  double sum = 0;
  for (const double f : band.points_Hz) sum += psd(f);
  return sum / static_cast<double>(band.points_Hz.size());
}

std::vector<double> noise_time_constants(double interval_s, double record_s) {
  std::vector<double> times = {interval_s / 10};
  while (times.back() < 3 * record_s) times.push_back(10 * times.back());
  return times;
}

NoiseModel fit_noise_model(const std::vector<SpectrumBand>& bands, double interval_s, std::vector<double> times_s) {
  NoiseModel frame;
  frame.interval_s = interval_s;
  frame.times_s = std::move(times_s);
  const NoiseResiduals plain(bands, frame, false);
  const NoiseResiduals trapped(bands, frame, true);
  const Found without = search(plain, bands, interval_s);
  const Found with = search(trapped, bands, interval_s);
  const double price = (trap_numbers - plain_numbers) * std::log(static_cast<double>(bands.size()));
  if (with.square + price < without.square) return with_intervals(trapped, with.x);
  return with_intervals(plain, without.x);
}

}  // namespace nudge
