// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_endurance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <functional>
#include <map>

#include "sim/base/errors.hpp"
#include "sim/base/statistics.hpp"

namespace nudge {
namespace {

double normal_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// −ln L of lives that are lognormal of mean exp(m) and deviation s of their logarithm.
double lives_off(const std::vector<CycledLife>& lives, double m, double s) {
  double sum = 0;
  const auto place = [&](double cycles) { return (std::log(cycles) - m + s * s / 2) / s; };
  for (const CycledLife& life : lives) {
    const double above = life.alive > 0 ? normal_below(-place(life.alive)) : 1;
    const double beyond = life.failed() ? normal_below(-place(life.died)) : 0;
    sum -= std::log(std::max(above - beyond, 1e-300));
  }
  return sum;
}

/// Minimum of f over [low, high]: the place and the value.
std::pair<double, double> least_within(const std::function<double(double)>& f, double low, double high) {
  constexpr int points = 40;  // a profile may be flat far out: the valley is looked for first
  double best = low, value = f(low);
  const double h = (high - low) / points;
  for (int k = 1; k <= points; ++k) {
    const double x = low + k * h, here = f(x);
    if (here < value) best = x, value = here;
  }
  return boost::math::tools::brent_find_minima(f, std::max(low, best - h), std::min(high, best + h), 30);
}

/// Place between `from` (below `limit`) and `to` where f passes `limit`; NaN: it does not.
double crossing(const std::function<double(double)>& f, double limit, double from, double to) {
  constexpr int points = 60;
  double inside = from;
  for (int k = 1; k <= points; ++k) {
    double outside = from + (to - from) * k / points;
    if (f(outside) <= limit) {
      inside = outside;
      continue;
    }
    for (int halving = 0; halving < 40; ++halving) {
      const double middle = 0.5 * (inside + outside);
      (f(middle) <= limit ? inside : outside) = middle;
    }
    return inside;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

constexpr double least_ln_s = -5, most_ln_s = 2;  // spreads of 0.7 % to a factor of e^7

/// True where a minimum is no lower than f at an end of its search: nothing says that it is not beyond. ln L is known to about
/// 30 bits of the search, and differences that tell something are of the order of 1.
bool at_end(const std::function<double(double)>& f, double least, double low, double high) {
  return std::min(f(low), f(high)) < least + 1e-6;
}

void fit_lives(EnduranceFit& fit) {
  const auto n = static_cast<int>(fit.lives.size());
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const CycledLife& life : fit.lives) {
    low = std::min(low, life.alive > 0 ? life.alive : life.died);
    high = std::max(high, life.failed() ? life.died : life.alive);
  }
  if (n == 1) {  // between two looks
    const CycledLife& life = fit.lives.front();
    if (life.alive > 0) fit.mean_cycles = {std::sqrt(life.alive * life.died), life.alive, life.died};
    return;
  }
  if (fit.failed < 2) return;
  const double from = std::log(low) - 8, to = std::log(high) + 12;
  const auto off = [&](double m, double ln_s) { return lives_off(fit.lives, m, std::exp(ln_s)); };
  const auto of_mean = [&](double m) {
    return least_within([&](double ln_s) { return off(m, ln_s); }, least_ln_s, most_ln_s).second;
  };
  const auto of_spread = [&](double ln_s) {
    return least_within([&](double m) { return off(m, ln_s); }, from, to).second;
  };
  const auto [mean, at_mean] = least_within(of_mean, from, to);
  const auto [ln_spread, at_spread] = least_within(of_spread, least_ln_s, most_ln_s);
  const double t = student_t_quantile(0.975, n - 1), limit = std::min(at_mean, at_spread) + t * t / 2;
  if (!at_end(of_mean, at_mean, from, to)) {
    fit.mean_cycles = {std::exp(mean), std::exp(crossing(of_mean, limit, mean, from)),
                       std::exp(crossing(of_mean, limit, mean, to))};
  }
  if (at_end(of_spread, at_spread, least_ln_s, most_ln_s)) return;
  fit.spread = {std::exp(ln_spread), std::exp(crossing(of_spread, limit, ln_spread, least_ln_s)),
                std::exp(crossing(of_spread, limit, ln_spread, most_ln_s))};
}

struct DriftSlope {
  double value = 0, error = 0;
  int rows = 0;
};

/// Slope of ln g over log10(cycle) up to `last`, by least squares.
DriftSlope drift_slope(const CycledDevice& device, const std::vector<double>& g, double last) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < g.size(); ++i) {
    if (device.cycles[i] < 1 || device.cycles[i] > last) continue;
    const double u = std::log10(device.cycles[i]), v = std::log(g[i]);
    n += 1, x += u, y += v, xx += u * u, xy += u * v, yy += v * v;
  }
  const double sxx = xx - x * x / n, sxy = xy - x * y / n, syy = yy - y * y / n;
  if (n < 2 || !(sxx > 1e-12 * xx)) return {};
  const double rest = std::max(syy - sxy * sxy / sxx, 0.0);
  return {sxy / sxx, n > 2 ? std::sqrt(rest / (n - 2) / sxx) : 0, static_cast<int>(n)};
}

/// Change per decade, relative, from slopes of logarithms.
EnduranceNumber drift_of(const std::vector<DriftSlope>& slopes) {
  std::vector<double> values;
  for (const DriftSlope& one : slopes) {
    if (one.rows > 1) values.push_back(one.value);
  }
  if (values.empty()) return {};
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto n = static_cast<int>(values.size());
  EnduranceNumber out{std::expm1(mean)};
  double half = 0;
  if (n > 1) {
    half = student_t_half_width(std::sqrt(squares / (n - 1)), n);
  } else {
    const auto own = std::find_if(slopes.begin(), slopes.end(), [](const DriftSlope& one) { return one.rows > 1; });
    if (own->rows < 3) return out;
    half = student_t_quantile(0.975, own->rows - 2) * own->error;
  }
  return {out.value, std::expm1(mean - half), std::expm1(mean + half)};
}

CycledLife life_of(const CycledDevice& device) {
  if (device.cycles.empty()) return {0, device.lost};
  const auto window = [&](std::size_t i) { return device.on_S[i] - device.off_S[i]; };
  std::size_t first = device.cycles.size();  // row from which on the window stays below half
  while (first > 0 && window(first - 1) < 0.5 * window(0)) --first;
  if (first == device.cycles.size()) return {device.cycles.back(), device.lost};
  return {device.cycles[first - 1], device.cycles[first]};
}

}  // namespace

EnduranceFit fit_endurance(const std::vector<CycledDevice>& devices, bool counts_pulses) {
  NUDGE_EXPECT(!devices.empty());
  EnduranceFit fit;
  fit.pulses_per_cycle = counts_pulses ? 1 : 2;
  fit.longest = std::numeric_limits<double>::infinity();
  std::vector<double> first, last;
  std::vector<DriftSlope> on, off;
  for (const CycledDevice& device : devices) {
    const CycledLife life = life_of(device);
    fit.lives.push_back(life);
    fit.failed += life.failed() ? 1 : 0;
    fit.longest = std::min(fit.longest, life.alive);
    if (device.cycles.empty()) continue;  // dead at its first look
    first.push_back(device.on_S.front() / device.off_S.front());
    last.push_back(device.on_S.back() / device.off_S.back());
    on.push_back(drift_slope(device, device.on_S, life.alive));
    off.push_back(drift_slope(device, device.off_S, life.alive));
  }
  fit.first_ratio = median(first);
  fit.last_ratio = median(last);
  fit.on_drift = drift_of(on);
  fit.off_drift = drift_of(off);
  if (fit.failed > 0) fit_lives(fit);
  return fit;
}

namespace {

std::string endurance_number(const EnduranceNumber& n, double factor, const char* unit) {
  const auto end = [&](double v) { return std::isfinite(v) ? fmt::format("{:.4g}", factor * v) : "?"; };
  if (std::isnan(n.low) && std::isnan(n.high)) return fmt::format("{}{} (no interval)", end(n.value), unit);
  return fmt::format("{}{} ({} to {})", end(n.value), unit, end(n.low), end(n.high));
}

/// True where an interval closes: the number may be used.
bool closes(const EnduranceNumber& n) { return n.known() && std::isfinite(n.low) && std::isfinite(n.high); }

/// What is known where no mean is: when the first and the last device failed, and a lower end of the mean.
std::string undetermined_endurance(const EnduranceFit& fit) {
  const double pulses = fit.pulses_per_cycle;
  if (fit.failed == 0) return fmt::format("every device lasted {:g} pulses; none failed", pulses * fit.longest);
  std::string out;
  if (fit.longest > 0) out += fmt::format("no device failed before {:g} pulses; ", pulses * fit.longest);
  double last = 0;
  for (const CycledLife& life : fit.lives) last = std::max(last, life.died);
  if (std::isfinite(last)) out += fmt::format("all had failed by {:g}; ", pulses * last);
  if (fit.failed < 2) return out + "one failure gives no mean";
  if (std::isfinite(fit.mean_cycles.low))
    out += fmt::format("the mean is above {:.4g}, its upper end ", pulses * fit.mean_cycles.low);
  else
    out += "the mean ";
  return out + (!std::isfinite(last) ? "is not determined (cycle longer, or more devices)"
                : fit.spread.known() ? "is not determined (measure more devices)"
                                     : "is not determined (look more often, or at more devices)");
}

}  // namespace

std::string endurance_text(const EnduranceFit& fit) {
  const double pulses = fit.pulses_per_cycle;
  std::string out = fmt::format(
      "{} devices, {} failed: their window g_on - g_off fell below half of its first value (95 % intervals)\n"
      "  on/off       {:.4g} at first, {:.4g} at last\n",
      fit.lives.size(), fit.failed, fit.first_ratio, fit.last_ratio);
  const char* decade = pulses > 1 ? " % per decade of cycles" : " % per decade of pulses";
  if (fit.on_drift.known()) out += fmt::format("  g_on         {}\n", endurance_number(fit.on_drift, 100, decade));
  if (fit.off_drift.known()) out += fmt::format("  g_off        {}\n", endurance_number(fit.off_drift, 100, decade));
  if (closes(fit.mean_cycles)) {
    out += fmt::format("  endurance    {}\n", endurance_number(fit.mean_cycles, pulses, " pulses"));
  } else {
    out += "  endurance    " + undetermined_endurance(fit) + "\n";
  }
  if (fit.spread.known()) {
    out += fmt::format("  spread       {} of ln(pulses)\n", endurance_number(fit.spread, 1, ""));
  } else if (fit.failed > 1) {
    out += "  spread       not determined by these looks\n";
  }
  if (pulses > 1) out += "  a cycle is counted as 2 pulses, a set and a reset\n";
  return out;
}

std::string endurance_toml(const EnduranceFit& fit, const std::string& source) {
  std::string out = fmt::format("# Endurance fitted to {}\n", source);
  std::string text = endurance_text(fit);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    out += "# " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  if (!closes(fit.mean_cycles)) return out;
  out += fmt::format("[device]\nendurance = {:.4g}\n", fit.pulses_per_cycle * fit.mean_cycles.value);
  if (fit.spread.known()) out += fmt::format("endurance_spread = {:.4g}\n", fit.spread.value);
  return out + "# endurance_failure = 'stuck'  # worn devices are counted; with this they also stay where they are\n";
}

}  // namespace nudge
