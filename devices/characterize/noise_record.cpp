// SPDX-License-Identifier: Apache-2.0
#include "devices/characterize/characterize.hpp"

#include <algorithm>
#include <cmath>

#include "devices/device_array.hpp"
#include "devices/device_levels.hpp"

namespace nudge {
namespace {

constexpr double records_waited = 1000;
constexpr double record_rounding = 1e-12;

/// Looks at every device, (samples, devices): means over their intervals, and the last moment of each.
struct Looks {
  Matrix<double> mean, last;
};

Looks take(DeviceArray<double>& array, const CharacterizeOptions& options) {
  std::uint64_t step = 0;
  array.advance_time(records_waited * options.samples * options.interval_s, step++, Gathering::none);
  Looks looks{Matrix<double>::Zero(options.samples, options.devices), Matrix<double>(options.samples, options.devices)};
  for (int t = 0; t < options.samples; ++t) {
    for (int k = 0; k < looks_per_sample; ++k) {
      array.advance_time(options.interval_s / looks_per_sample, step++, Gathering::none);
      looks.mean.row(t) += array.conductance().row(0) / looks_per_sample;
    }
    looks.last.row(t) = array.conductance().row(0);
  }
  return looks;
}

/// Takes off lines, y ← y/mean − line of each column; returns the rms over the columns of the change of the lines from first
/// to last row. A column of mean 0 becomes 0.
double take_off_lines(Matrix<double>& y) {
  const Eigen::VectorXd time = Eigen::VectorXd::LinSpaced(y.rows(), -0.5, 0.5);
  double squares = 0;
  for (Index i = 0; i < y.cols(); ++i) {
    const double mean = y.col(i).mean();
    if (!(mean > 0)) {
      y.col(i).setZero();
      continue;
    }
    const Eigen::VectorXd relative = (y.col(i).array() / mean - 1).matrix();
    const double slope = time.dot(relative) / time.squaredNorm();
    y.col(i) = relative - slope * time;
    squares += slope * slope;
  }
  return std::sqrt(squares / static_cast<double>(y.cols()));
}

/// Slope of ln S over ln f and its standard error, from the scatter about the line, over points [begin, end).
struct Slope {
  double value = 0, error = 0;
};

Slope slope_of(const NoiseRecord& r, std::size_t begin, std::size_t end) {
  const std::vector<double> f(r.frequency_Hz.begin() + static_cast<std::ptrdiff_t>(begin),
                              r.frequency_Hz.begin() + static_cast<std::ptrdiff_t>(end));
  const std::vector<double> s(r.spectrum_Hz.begin() + static_cast<std::ptrdiff_t>(begin),
                              r.spectrum_Hz.begin() + static_cast<std::ptrdiff_t>(end));
  Slope slope{log_slope(f, s), 0};
  const auto n = static_cast<double>(f.size());
  if (n < 3) return slope;
  double mean_x = 0;
  double mean_y = 0;
  for (std::size_t k = 0; k < f.size(); ++k) {
    mean_x += std::log(f[k]) / n;
    mean_y += std::log(s[k]) / n;
  }
  double xx = 0;
  double rest = 0;
  for (std::size_t k = 0; k < f.size(); ++k) {
    const double x = std::log(f[k]) - mean_x;
    xx += x * x;
    rest += std::pow(std::log(s[k]) - mean_y - slope.value * x, 2);
  }
  slope.error = std::sqrt(rest / (n - 2) / xx);
  return slope;
}

void judge(NoiseRecord& r) {
  const std::size_t n = r.frequency_Hz.size();
  const Slope all = slope_of(r, 0, n);
  r.slope = all.value;
  r.slope_error = all.error;
  r.lower_slope = slope_of(r, 0, n / 2 + 1).value;
  r.upper_slope = slope_of(r, n / 2, n).value;
  const auto near = [](double slope, double by) { return std::abs(slope + 1) <= by; };
  r.kind = near(r.slope, 0.25) && near(r.lower_slope, 0.5) && near(r.upper_slope, 0.5) ? SpectrumKind::one_over_f
                                                                                       : SpectrumKind::other;
  if (r.kind != SpectrumKind::one_over_f) return;
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += std::log(r.frequency_Hz[k] * r.spectrum_Hz[k]);
  r.q = std::exp(0.5 * sum / static_cast<double>(n));
}

/// Periodogram of each column of y (samples, series) under a Hann window w_t = 2 sin²(π t/samples), at up to 40
/// logarithmically spaced multiples k of 1/(samples dt) from the fourth to 1/(8 dt), mean over the columns:
/// (2 dt/samples)(2/3) |Σ w y exp(−2πi k t/samples)|², one-sided, divided by the response of a sample that is the mean of
/// `parts` moments of its interval, [sin(π f dt)/(parts sin(π f dt/parts))]². Needs 64 samples or more.
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

/// Shares of 61 equal intervals between the extremes of y; `center` holds their middles. One interval when y is constant.
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

}  // namespace

NoiseRecord noise_record(const DeviceSpec& spec, const CharacterizeOptions& options) {
  DeviceArray<double> array(spec, 1, options.devices, {options.seed, 7, 0}, 1);
  const double g = nearest_level_S(spec, spec.g_min_S + 0.5 * spec.window_S());
  array.program(Matrix<double>::Constant(1, options.devices, g), 0);
  Looks looks = take(array, options);
  NoiseRecord record;
  record.target_S = g;
  record.fresh_std = std::sqrt(spec.uniform_read_S2() + array.state_read_variance_S2().mean()) / g;
  record.trend = take_off_lines(looks.last);
  take_off_lines(looks.mean);
  record.slow_std = std::sqrt(looks.last.squaredNorm() / static_cast<double>(looks.last.size()));
  // A power law or logarithm of the time t since programming has g'' = −(1 + ν) g'/t: over a record of length T at t = 1000 T
  // it leaves its line by at most (1 + ν) T/(8 t) of the change; factor 2 for ν < 1.
  record.floor = record_rounding + 2 * record.trend / (8 * records_waited);
  // A leak of time constant τ has g'' = −g'/τ: T/(8 τ) of the change. Where its spread over devices makes some faster, 4 of its
  // standard deviations are allowed; devices with τ < T/50 have come to rest, by e^−1000/50, and show no change.
  if (spec.retention.leaks()) {
    const double record_s = options.samples * options.interval_s;
    const double fastest_s = spec.retention.leak_time_s * std::max(1 - 4 * spec.retention.leak_spread, 0.0);
    record.floor += record.trend / 8 * std::min(record_s / fastest_s, 50.0);
  }
  if (record.slow_std <= record.floor) {
    record.slow_std = 0;
    looks.last.setZero();
  } else {
    hann_spectrum(looks.mean, options.interval_s, looks_per_sample, record.frequency_Hz, record.spectrum_Hz);
    judge(record);
  }
  // The histogram holds both kinds: one read per sqrt(tau) at each look.
  Matrix<double> fresh(looks.last.rows(), looks.last.cols());
  fill_normal<double>({options.seed, Purpose::read_noise, 7}, 0, 0,
                      {fresh.data(), static_cast<std::size_t>(fresh.size())});
  histogram(looks.last + record.fresh_std * fresh, record.deviation, record.share);
  return record;
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

}  // namespace nudge
