// SPDX-License-Identifier: Apache-2.0
#include "devices/characterize/spectrum_of.hpp"

#include <algorithm>
#include <cmath>

namespace nudge {

void relative_spectrum(const Matrix<double>& y, double dt_s, std::vector<double>& frequency_Hz,
                       std::vector<double>& spectrum) {
  const auto samples = static_cast<double>(y.rows());
  const Index highest = y.rows() / 2 - 1;
  Index last = 0;
  for (int i = 0; i < 40; ++i) {
    const auto k = static_cast<Index>(std::lround(std::pow(static_cast<double>(highest), i / 39.0)));
    if (k <= last) continue;
    last = k;
    Eigen::RowVectorXd cosine = Eigen::RowVectorXd::Zero(y.cols());
    Eigen::RowVectorXd sine = Eigen::RowVectorXd::Zero(y.cols());
    for (Index t = 0; t < y.rows(); ++t) {
      // k t mod samples keeps the angle small and exact.
      const double angle = 2 * M_PI * static_cast<double>((k * t) % y.rows()) / samples;
      cosine += std::cos(angle) * y.row(t);
      sine += std::sin(angle) * y.row(t);
    }
    frequency_Hz.push_back(static_cast<double>(k) / (samples * dt_s));
    spectrum.push_back(2 * dt_s / samples * (cosine.squaredNorm() + sine.squaredNorm()) /
                       static_cast<double>(y.cols()));
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
