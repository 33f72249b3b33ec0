// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_waits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <limits>

#include "sim/base/statistics.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

/// Two readings of a device without a pulse between.
struct Wait {
  double from_S = 0, to_S = 0, seconds = 0;
};

std::vector<Wait> waits_of(const std::vector<LabRecord>& records) {
  std::vector<Wait> all;
  for (const LabRecord& record : records) {
    double from_S = record.pulses.conductance_S.back(), from_s = 0;
    for (const TimedReading& read : record.waits) {
      all.push_back({from_S, read.conductance_S, read.since_pulse_s - from_s});
      from_S = read.conductance_S;
      from_s = read.since_pulse_s;
    }
  }
  return all;
}

/// Best rest for a leak time, and the squares that it leaves.
struct RestFit {
  double rest_S = 0, squares = 0;
};

RestFit rest_at(const std::vector<Wait>& waits, double time_s) {
  double aa = 0, ay = 0, yy = 0;
  for (const Wait& w : waits) {
    const double gone = -std::expm1(-w.seconds / time_s), change = w.to_S - w.from_S * (1 - gone);  // = gone g_r
    aa += gone * gone;
    ay += gone * change;
    yy += change * change;
  }
  const double rest = aa > 0 ? std::max(ay / aa, 0.0) : 0;
  return {rest, std::max(yy - 2 * rest * ay + rest * rest * aa, 0.0)};
}

/// Logarithm of the time, between an `inside` the limit of squares and an `outside`, where the squares pass it.
double leak_crossing(const std::vector<Wait>& waits, double inside, double outside, double limit) {
  for (int i = 0; i < 60; ++i) {  // halvings: to the rounding of a double
    const double middle = 0.5 * (inside + outside);
    (rest_at(waits, std::exp(middle)).squares <= limit ? inside : outside) = middle;
  }
  return inside;
}

/// Sums over all waits, and the logarithms of the times that are looked at.
struct WaitSearch {
  double still = 0;
  double from = 0, to = 0;
  static constexpr int points = 2000;

  explicit WaitSearch(const std::vector<Wait>& waits) {
    double shortest = std::numeric_limits<double>::infinity(), longest = 0;
    for (const Wait& w : waits) {
      shortest = std::min(shortest, w.seconds);
      longest = std::max(longest, w.seconds);
      still += std::pow(w.to_S - w.from_S, 2);
    }
    from = std::log(shortest / 100);
    to = std::log(1000 * longest);
  }
  double at(int k) const { return from + (to - from) * k / points; }
};

}  // namespace

LeakFit fit_waits(const std::vector<LabRecord>& records) {
  const std::vector<Wait> waits = waits_of(records);
  LeakFit fit;
  fit.reads = waits.size();
  if (waits.empty()) return fit;
  const auto n = static_cast<double>(waits.size());
  const WaitSearch search(waits);
  constexpr int points = WaitSearch::points;
  const auto squares = [&](double ln_s) { return rest_at(waits, std::exp(ln_s)).squares; };
  int best = 0;
  for (int k = 1; k <= points; ++k) {
    if (squares(search.at(k)) < squares(search.at(best))) best = k;
  }
  // To half the digits of a double: the squares are flat within the root of their rounding.
  const auto [ln_s, least] = boost::math::tools::brent_find_minima(squares, search.at(std::max(best - 1, 0)),
                                                                   search.at(std::min(best + 1, points)),
                                                                   std::numeric_limits<double>::digits / 2);
  fit.time_s = std::exp(ln_s);
  fit.rest_S = rest_at(waits, fit.time_s).rest_S;
  fit.rms_S = std::sqrt(least / n);
  fit.rms_still_S = std::sqrt(search.still / n);
  if (waits.size() < 4) return fit;
  const double t = student_t_quantile(0.975, static_cast<int>(waits.size()) - 2);
  const double floor = std::max(least, 1e-24 * search.still);  // of rounding
  const double limit = floor * (1 + t * t / (n - 2));
  int low = best, high = best;
  while (low >= 0 && (low == best || squares(search.at(low)) <= limit)) --low;
  while (high <= points && (high == best || squares(search.at(high)) <= limit)) ++high;
  fit.time_low_s = low >= 0 ? std::exp(leak_crossing(waits, ln_s, search.at(low), limit)) : 0;
  fit.time_high_s = high <= points ? std::exp(leak_crossing(waits, ln_s, search.at(high), limit))
                                   : std::numeric_limits<double>::infinity();
  const bool better = n * std::log(floor / search.still) + 4 < 0;
  fit.shows = search.still > 0 && better && std::isfinite(fit.time_high_s) && low >= 0;
  return fit;
}

LeakFit add_leak(PopulationFit& fit, const std::vector<LabRecord>& records) {
  const LeakFit leak = fit_waits(records);
  if (leak.reads == 0) return leak;
  DeviceSpec& spec = fit.common.spec;
  const auto seconds = [](double s) { return std::isfinite(s) && s > 0 ? format_quantity(s, Unit::second, 3) : "?"; };
  if (!leak.shows) {
    fit.common.of_devices.push_back(fmt::format(
        "{} reads after a wait show no leak: an exponential leaves {} rms, no change {}", leak.reads,
        format_quantity(leak.rms_S, Unit::siemens, 3), format_quantity(leak.rms_still_S, Unit::siemens, 3)));
    return leak;
  }
  spec.retention.leak_time_s = leak.time_s;
  spec.retention.leak_rest = std::clamp((leak.rest_S - spec.g_min_S) / spec.window_S(), 0.0, 1.0);
  fit.common.of_devices.push_back(
      fmt::format("leak_time {} ({} to {}) and rest {} are of {} reads after a wait, which leave {} rms (without a "
                  "leak {}). The law of "
                  "pulses was fitted without it: it holds where pulses follow each other within much less",
                  seconds(leak.time_s), seconds(leak.time_low_s), seconds(leak.time_high_s),
                  format_quantity(leak.rest_S, Unit::siemens, 3), leak.reads,
                  format_quantity(leak.rms_S, Unit::siemens, 3), format_quantity(leak.rms_still_S, Unit::siemens, 3)));
  return leak;
}

}  // namespace nudge
