// SPDX-License-Identifier: Apache-2.0
// Ways of the voltage out from 0 and back, their levels and their curvature.
#include "devices/fit/iv_trips.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/statistics.hpp"

namespace nudge {
namespace {

constexpr double conductance_errors = 3;  // standard errors: a conductance of less is one of the instrument's noise

/// Line of ln(I/V) over V² at small V: ln G and the initial slope, c/6.
struct WayFit {
  double log_S = 0, c = 0, c_error = std::numeric_limits<double>::infinity();
  int rows = 0;
};

/// Voltage above which the current is ten times its noise. Noise of a share r lowers the mean of ln(I/V) by r²/2, more where V is
/// smaller, which is a curvature; a tenth lowers it by half a percent, a twentieth of one row's noise.
double seen_above_V(const IvWay& way, double most_V) {
  double si = 0, ss = 0;
  for (std::size_t k = 0; k < way.volts.size(); ++k) {
    if (way.volts[k] <= most_V && !way.limited[k]) si += way.volts[k] * way.amps[k], ss += way.volts[k] * way.volts[k];
  }
  return si > 0 ? 10 * noise_A(way, most_V) / 1.65 * ss / si : 0;
}

/// Least squares of ln(I/V) = ln G + ln(sinh(√(c V²))/√(c V²)) below `most_V`, by Gauss–Newton in c. Noise makes
/// the c of a straight line negative as often as positive: a bound at 0 would lift the mean of many.
WayFit fit_way(const IvWay& way, double most_V) {
  std::vector<double> v, y;
  const double least_V = std::max(0.1 * most_V, seen_above_V(way, most_V));
  for (std::size_t k = 0; k < way.volts.size(); ++k) {
    if (way.volts[k] > most_V || way.volts[k] < least_V || way.limited[k]) continue;
    if (std::isnan(way.log_S[k])) return {};  // noise as large as the current: its logarithms are no mean
    v.push_back(way.volts[k]), y.push_back(way.log_S[k]);
  }
  WayFit fit;
  fit.rows = static_cast<int>(v.size());
  if (v.empty()) return fit;
  const auto n = static_cast<double>(v.size());
  for (const double one : y) fit.log_S += one / n;
  if (v.size() < 4) return fit;
  double rest = 0, spread = 0;
  for (int round = 0; round < 30; ++round) {
    double mean_f = 0, mean_d = 0;
    std::vector<double> f, d;
    for (const double one : v) {
      const double h = 1e-3 / (one * one);  // of c, so that z moves by 1e-3
      f.push_back(log_sinhc(fit.c * one * one));
      d.push_back((log_sinhc((fit.c + h) * one * one) - f.back()) / h);
      mean_f += f.back() / n, mean_d += d.back() / n;
    }
    double mean_y = 0, xy = 0;
    for (const double one : y) mean_y += one / n;
    spread = rest = 0;
    for (std::size_t k = 0; k < v.size(); ++k) {
      const double off = (y[k] - mean_y) - (f[k] - mean_f);
      xy += (d[k] - mean_d) * off;
      spread += (d[k] - mean_d) * (d[k] - mean_d);
      rest += off * off;
    }
    fit.log_S = mean_y - mean_f;
    if (!(spread > 0)) return fit;
    const double next = fit.c + xy / spread;
    if (std::abs(next - fit.c) <= 1e-9 * std::abs(fit.c)) break;
    fit.c = next;
  }
  constexpr double rounding = 1e-12;  // of ln(I/V): files have few digits
  fit.c_error = std::sqrt(std::max(rest / (n - 2), rounding) / spread);
  return fit;
}

/// Noise of the eight free rows of the smallest voltages, where no curve bends the current.
double lowest_noise_A(const IvWay& way) {
  std::vector<double> volts;
  for (std::size_t k = 0; k < way.volts.size(); ++k) {
    if (!way.limited[k]) volts.push_back(way.volts[k]);
  }
  std::sort(volts.begin(), volts.end());
  return volts.empty() ? 0 : noise_A(way, volts[std::min<std::size_t>(7, volts.size() - 1)]);
}

}  // namespace

void IvWay::add(double v, double i, const IvLimits& limits) {
  if (v == 0) return;
  limited.push_back(limits.holds(v, i));
  if (limited.back() && limited_V == 0) limited_V = std::abs(v);
  volts.push_back(std::abs(v));
  amps.push_back(v < 0 ? -i : i);
  log_S.push_back(i / v > 0 ? std::log(i / v) : std::numeric_limits<double>::quiet_NaN());
}

std::size_t IvWay::free_rows() const {
  return static_cast<std::size_t>(std::count(limited.begin(), limited.end(), false));
}

double log_sinhc(double z) {
  if (z < 1e-6) return z / 6;
  const double u = std::sqrt(z);
  return u + std::log(-std::expm1(-2 * u) / (2 * u));
}

std::vector<IvTrip> trips_of(const IvSweep& sweep, const IvLimits& limits) {
  std::vector<IvTrip> trips;
  const auto side = [&](std::size_t k) { return sweep.volts[k] > 0 ? 1 : sweep.volts[k] < 0 ? -1 : 0; };
  for (std::size_t k = 0; k < sweep.volts.size();) {
    if (side(k) == 0) {
      ++k;
      continue;
    }
    std::size_t end = k, peak = k;
    for (; end < sweep.volts.size() && side(end) == side(k); ++end) {
      if (std::abs(sweep.volts[end]) > std::abs(sweep.volts[peak])) peak = end;
    }
    IvTrip trip;
    trip.peak_V = sweep.volts[peak];
    for (std::size_t i = k; i < end; ++i)
      (i <= peak ? trip.out : trip.back).add(sweep.volts[i], sweep.current_A[i], limits);
    const auto usable = [](const IvWay& way) { return way.volts.size() >= 4 && way.free_rows() >= 2; };
    if (usable(trip.out) && usable(trip.back)) trips.push_back(std::move(trip));
    k = end;
  }
  return trips;
}

double noise_A(const IvWay& way, double below_V) {
  std::vector<double> bends;
  for (std::size_t k = 2; k < way.volts.size(); ++k) {
    if (std::max({way.volts[k], way.volts[k - 1], way.volts[k - 2]}) > below_V) continue;
    if (way.limited[k] || way.limited[k - 1] || way.limited[k - 2]) continue;
    bends.push_back(std::abs(way.amps[k] - 2 * way.amps[k - 1] + way.amps[k - 2]));
  }
  return bends.size() < 3 ? 0 : median(bends);
}

double steepest_V(const IvTrip& trip) {
  if (trip.out.limited_V > 0) return trip.out.limited_V;
  double most = 0, at = std::abs(trip.peak_V);
  const IvWay& out = trip.out;
  const double floor = std::max(noise_A(out, 0.2 * at), 1e-300);
  const auto place = [&](std::size_t k) { return std::asinh(out.amps[k] / floor) - std::log(out.volts[k]); };
  for (std::size_t k = 1; k < out.volts.size(); ++k) {
    const double change = std::abs(place(k) - place(k - 1));
    if (out.volts[k] > 0.2 * std::abs(trip.peak_V) && change > most) most = change, at = out.volts[k];
  }
  return at;
}

IvLevel level_of(const IvWay& way, double below_V, double c, double digit_A) {
  double largest_V = 0, n = 0, s1 = 0, i1 = 0, ss = 0, si = 0, ii = 0;
  for (std::size_t k = 0; k < way.volts.size(); ++k) {
    if (way.volts[k] > below_V || way.limited[k]) continue;
    const double s = way.volts[k] * std::exp(log_sinhc(c * way.volts[k] * way.volts[k])), i = way.amps[k];
    largest_V = std::max(largest_V, way.volts[k]);
    n += 1, s1 += s, i1 += i, ss += s * s, si += s * i, ii += i * i;
  }
  IvLevel level;
  if (n == 0) return level;
  level.value_S = si / ss;
  const double sxx = ss - s1 * s1 / n, sxy = si - s1 * i1 / n, syy = ii - i1 * i1 / n;
  if (n < 4 || !(sxx > 1e-12 * ss)) {  // too few rows for an error of their own
    if (level.value_S > 0) return level;
    return {std::max(2 * lowest_noise_A(way) / 1.65 / std::sqrt(ss), digit_A / largest_V), true};
  }
  const double slope = sxy / sxx, error = std::sqrt(std::max(syy - slope * sxy, 0.0) / (n - 2) / sxx);
  if (slope > conductance_errors * error) return level;
  const double most = std::max(slope, 0.0) + 2 * error;
  return {most > 0 ? most : digit_A / largest_V, true};  // currents that are all 0 are below the file's digit
}

IvNumber curvature_of(const std::vector<IvTrip>& trips) {
  double sum = 0, weight = 0;
  IvNumber out;
  for (const IvTrip& trip : trips) {
    const double most = 0.5 * steepest_V(trip);
    for (const IvWay* way : {&trip.out, &trip.back}) {
      const WayFit fit = fit_way(*way, most);
      if (!(fit.c_error > 0) || !std::isfinite(fit.c_error)) continue;
      sum += fit.c / (fit.c_error * fit.c_error);
      weight += 1 / (fit.c_error * fit.c_error);
      ++out.n;
    }
  }
  if (out.n == 0) return out;
  double rest = 0;  // ways that differ by more than their errors widen the interval (Birge, Phys. Rev. 40:207 (1932))
  out.value = sum / weight;
  for (const IvTrip& trip : trips) {
    const double most = 0.5 * steepest_V(trip);
    for (const IvWay* way : {&trip.out, &trip.back}) {
      const WayFit fit = fit_way(*way, most);
      if (fit.c_error > 0 && std::isfinite(fit.c_error)) rest += std::pow((fit.c - out.value) / fit.c_error, 2);
    }
  }
  const double wider = out.n > 1 ? std::max(1.0, rest / (out.n - 1)) : 1;
  const double half = (out.n > 1 ? student_t_quantile(0.975, out.n - 1) : 1.96) * std::sqrt(wider / weight);
  out.low = out.value - half, out.high = out.value + half;
  return out;
}

}  // namespace nudge
