// SPDX-License-Identifier: Apache-2.0
#include "devices/characterize/spectrum_of.hpp"

#include <algorithm>
#include <cmath>

namespace nudge {

void hann_spectrum(const Matrix<double>& y, double dt_s, int parts, std::vector<double>& frequency_Hz,
                   std::vector<double>& spectrum) {
  constexpr Index lowest = 4;
  constexpr int points = 40;
  const auto samples = static_cast<double>(y.rows());
  const Index highest = y.rows() / 8;
  // Σ w² = 3/2 samples.
  const double scale = 2 * dt_s / (1.5 * samples) / static_cast<double>(y.cols());
  Index last = 0;
  for (int i = 0; i < points; ++i) {
    const double ratio = static_cast<double>(highest) / lowest;
    const auto k = static_cast<Index>(std::lround(lowest * std::pow(ratio, i / (points - 1.0))));
    if (k <= last) continue;
    last = k;
    Eigen::RowVectorXd cosine = Eigen::RowVectorXd::Zero(y.cols());
    Eigen::RowVectorXd sine = Eigen::RowVectorXd::Zero(y.cols());
    for (Index t = 0; t < y.rows(); ++t) {
      // k t mod samples keeps the angle small and exact.
      const double angle = 2 * M_PI * static_cast<double>((k * t) % y.rows()) / samples;
      const double window = 2 * std::pow(std::sin(M_PI * static_cast<double>(t) / samples), 2);
      cosine += window * std::cos(angle) * y.row(t);
      sine += window * std::sin(angle) * y.row(t);
    }
    const double phase = M_PI * static_cast<double>(k) / samples;  // pi f dt
    const double response = std::sin(phase) / (parts * std::sin(phase / parts));
    frequency_Hz.push_back(static_cast<double>(k) / (samples * dt_s));
    spectrum.push_back(scale * (cosine.squaredNorm() + sine.squaredNorm()) / (response * response));
  }
}

double log_slope(const std::vector<double>& f, const std::vector<double>& s) {
  double n = 0;
  double sx = 0;
  double sy = 0;
  double sxx = 0;
  double sxy = 0;
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (!(s[i] > 0)) continue;
    const double x = std::log(f[i]);
    const double v = std::log(s[i]);
    n += 1;
    sx += x;
    sy += v;
    sxx += x * x;
    sxy += x * v;
  }
  return n < 3 ? 0 : (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

void histogram(const Matrix<double>& y, std::vector<double>& center, std::vector<double>& share) {
  const double low = y.minCoeff();
  const double high = y.maxCoeff();
  const std::size_t bins = high > low ? 61 : 1;
  share.assign(bins, 0);
  for (std::size_t b = 0; b < bins; ++b) {
    center.push_back(low + (high - low) * (static_cast<double>(b) + 0.5) / static_cast<double>(bins));
  }
  for (Index i = 0; i < y.size(); ++i) {
    const double at = high > low ? (y.data()[i] - low) / (high - low) : 0;
    share[std::min(static_cast<std::size_t>(at * static_cast<double>(bins)), bins - 1)] += 1;
  }
  for (double& s : share) s /= static_cast<double>(y.size());
}

}  // namespace nudge
