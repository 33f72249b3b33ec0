// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_waits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "devices/fit/fit_numbers.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

/// Two readings of a device without a pulse between.
struct Wait {
  double from_S = 0, to_S = 0, seconds = 0;
};

void add_waits(const PulseRecord& record, std::vector<Wait>& all) {
  double from_S = record.conductance_S.back(), from_s = 0;
  for (const TimedReading& read : record.waits) {
    all.push_back({from_S, read.conductance_S, read.since_pulse_s - from_s});
    from_S = read.conductance_S;
    from_s = read.since_pulse_s;
  }
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

LeakGuess leak_of_waits(const std::vector<Wait>& waits) {
  constexpr int places = 400;  // 3 to 5 % apart
  double shortest = std::numeric_limits<double>::infinity(), longest = 0;
  for (const Wait& w : waits) {
    shortest = std::min(shortest, w.seconds);
    longest = std::max(longest, w.seconds);
  }
  if (waits.empty()) return {};
  const double from = std::log(shortest / 100), to = std::log(1000 * longest);
  LeakGuess best;
  double least = std::numeric_limits<double>::infinity();
  for (int k = 0; k <= places; ++k) {
    const double time_s = std::exp(from + (to - from) * k / places);
    const auto [rest_S, squares] = rest_at(waits, time_s);
    if (squares < least) least = squares, best = {time_s, rest_S};
  }
  return best;
}

/// Sum of the squares that a leak leaves.
double squares_of(const std::vector<Wait>& waits, const LeakGuess& leak) {
  double sum = 0;
  for (const Wait& w : waits) {
    const double kept = std::exp(-w.seconds / leak.time_s);
    sum += std::pow(w.to_S - leak.rest_S - (w.from_S - leak.rest_S) * kept, 2);
  }
  return sum;
}

LeakGuess leak_of_spec(const DeviceSpec& spec) {
  return {spec.retention.leak_time_s, spec.g_min_S + spec.retention.leak_rest * spec.window_S()};
}

}  // namespace

LeakGuess first_leak(const std::vector<PulseRecord>& records) {
  std::vector<Wait> waits;
  for (const PulseRecord& record : records) add_waits(record, waits);
  return leak_of_waits(waits);
}

LeakFit tell_leak(PopulationFit& fit, const std::vector<LabRecord>& records) {
  LeakFit leak;
  leak.shows = fit.common.spec.retention.leaks();
  double squares = 0, still = 0;
  std::vector<Wait> all;
  for (const LabRecord& record : records) {
    std::vector<Wait> own;
    add_waits(record.pulses, own);
    const auto device =
        std::find_if(fit.each.begin(), fit.each.end(), [&](const DeviceFit& d) { return d.name == record.device; });
    if (leak.shows && device != fit.each.end()) squares += squares_of(own, leak_of_spec(device->fit.spec));
    for (const Wait& w : own) still += std::pow(w.to_S - w.from_S, 2);
    all.insert(all.end(), own.begin(), own.end());
  }
  leak.reads = all.size();
  if (all.empty()) return leak;
  const LeakGuess common = leak.shows ? leak_of_spec(fit.common.spec) : leak_of_waits(all);
  leak.time_s = common.time_s;
  leak.rest_S = common.rest_S;
  const auto n = static_cast<double>(all.size());
  leak.rms_S = std::sqrt((leak.shows ? squares : squares_of(all, common)) / n);
  leak.rms_still_S = std::sqrt(still / n);
  for (const FittedNumber& number : fit.common.intervals) {
    if (number.name == "leak_time") leak.low_s = number.low, leak.high_s = number.high;
  }
  if (!leak.shows) {
    fit.common.of_devices.push_back(fmt::format(
        "{} reads after a wait show no leak: an exponential leaves {} rms, no change {}", leak.reads,
        format_quantity(leak.rms_S, Unit::siemens, 3), format_quantity(leak.rms_still_S, Unit::siemens, 3)));
  }
  return leak;
}

}  // namespace nudge
