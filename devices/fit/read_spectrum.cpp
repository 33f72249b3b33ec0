// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_noise.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <unsupported/Eigen/FFT>

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

double sampled_lorentzian(double frequency_Hz, double interval_s, double tau_s) {
  const double c = std::exp(-interval_s / tau_s);
  const double gap = -std::expm1(-interval_s / tau_s);
  // 1 − 2c cos ω + c² = (1 − c)² + 4c sin²(ω/2): exact also where c is nearly 1.
  const double sine = std::sin(M_PI * frequency_Hz * interval_s);
  return 2 * interval_s * gap * (1 + c) / (gap * gap + 4 * c * sine * sine);
}

}  // namespace nudge
