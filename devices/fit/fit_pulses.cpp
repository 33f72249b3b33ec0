// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_pulses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <numeric>

#include "devices/device_config.hpp"
#include "devices/fit/fit_numbers.hpp"
#include "devices/fit/pulse_law.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

/// Sums over the reads of records, from which the residuals are made.
struct Sums {
  double steps = 0, whole = 0, curve = 0, pulses = 0, flat = 0;
  double turned = 0, turns = 0, lag = 0;
};

void add_steps_off(const DeviceSpec& spec, const PulseRecord& record, Sums& sums) {
  const PulseLaw law(spec);
  const double pulse = spec.window_S() / spec.pulses;
  for (std::size_t i = 1; i < record.conductance_S.size(); ++i) {
    PulseLaw::Places places{};
    places.fill(std::clamp(record.conductance_S[i - 1], spec.g_min_S, spec.g_max_S));
    law.follow(record, i, places);
    if (ends_at_bound(record, i, spec.g_min_S, spec.window_S())) continue;
    sums.steps += std::pow((record.conductance_S[i] - places[0]) / pulse, 2);
    sums.whole += 1;
  }
}

void add_curve_off(const DeviceSpec& spec, const PulseRecord& record, double range_S, Sums& sums) {
  const std::vector<double>& g = record.conductance_S;
  const double mean = std::accumulate(g.begin(), g.end(), 0.0) / static_cast<double>(g.size());
  const std::vector<double> replayed = replay(spec, record);
  double off = (g[0] - replayed[0]) / range_S, difference = 0;
  for (std::size_t i = 1; i < g.size(); ++i) {
    const double now = (g[i] - replayed[i]) / range_S;
    sums.curve += now * now;
    sums.flat += std::pow((g[i] - mean) / range_S, 2);
    sums.lag += now * off;
    if (i > 1) sums.turned += (now - off) * difference;
    sums.turns += i > 1 ? 1 : 0;
    difference = now - off;
    off = now;
  }
  sums.pulses += static_cast<double>(record.pulses());
}

void measure_residuals(PulseFit& fit, const std::vector<PulseRecord>& records) {
  const double range = range_of(records).size();
  Sums sums;
  for (const PulseRecord& record : records) {
    add_steps_off(fit.spec, record, sums);
    add_curve_off(fit.spec, record, range, sums);
  }
  fit.step_residual = sums.whole > 0 ? std::sqrt(sums.steps / sums.whole) : 0;  // 0: every pulse ended at a bound
  fit.curve_residual = std::sqrt(sums.curve / sums.pulses);
  fit.mean_residual = std::sqrt(sums.flat / sums.pulses);
  fit.autocorrelation = sums.curve > 0 ? sums.lag / sums.curve : 0;
  fit.read_noise = std::sqrt(std::max(0.0, -sums.turned / sums.turns));
}

void check_request(const std::string& model, int points) {
  const auto& known = fitted_models();
  if (std::find(known.begin(), known.end(), model) == known.end()) {
    throw UserError(fmt::format("devices fit: unknown model \"{}\" ({})", model, did_you_mean(model, known)));
  }
  if (points < 2 || points > 1000) {
    throw UserError(fmt::format("devices fit: --points {} (must be in [2, 1000]: values of a table)", points));
  }
}

/// Opens the intervals of bounds that rest on the law beyond what was read.
void open_bounds(PulseFit& fit) {
  const double noise = 3 * std::max(fit.likelihood.noise.read_S, fit.read_noise * fit.range.size());
  for (FittedNumber& n : fit.intervals) {
    const bool upper = n.name == "g_max";
    if (!upper && n.name != "g_min") continue;
    const bool dies = fit.dies_out(upper ? Direction::up : Direction::down);
    if (!fit.law.fails && !dies) continue;
    if (upper) {
      n.high.reset();
      if (n.low) n.low = std::min(*n.low, fit.range.high - noise);
    } else {
      n.low.reset();
      if (n.high) n.high = std::max(*n.high, fit.range.low + noise);
    }
    if (dies) (upper ? n.profile.open_high : n.profile.open_low) = true;
  }
}

/// Widens the intervals of numbers that both have, but for noise, to span those of a rival fit. An end that one of them leaves open is open.
void span(std::vector<FittedNumber>& intervals, const std::vector<FittedNumber>& rival) {
  for (FittedNumber& own : intervals) {
    const auto other =
        std::find_if(rival.begin(), rival.end(), [&](const FittedNumber& n) { return n.name == own.name; });
    if (other == rival.end() || own.name.find("noise") != std::string::npos || own.name == "slow_read_pulses") continue;
    own.low = own.low && other->low ? std::optional(std::min(*own.low, *other->low)) : std::nullopt;
    own.high = own.high && other->high ? std::optional(std::max(*own.high, *other->high)) : std::nullopt;
  }
}

/// Number with its interval, "12.3 uS (11.8 to 12.9)"; an open end is "?".
std::string interval_of(const FittedNumber& n) {
  const auto text = [&](const std::optional<double>& v) {
    if (!v) return std::string("?");
    if (n.unit == "S") return format_quantity(*v, Unit::siemens, 4);
    return fmt::format("{:.4g}{}", *v, n.unit == "1" ? "" : " " + n.unit);
  };
  return fmt::format("{} ({} to {})", text(n.value), text(n.low), text(n.high));
}

}  // namespace

const std::vector<std::string>& fitted_models() {
  static const std::vector<std::string> names = {"soft_bounds",      "linear_step", "constant_step",
                                                 "power_step",       "label_curve", "piecewise",
                                                 "exponential_step", "vteam",       "yakopcic"};
  return names;
}

bool PulseFit::better_than_mean() const {
  const auto n = static_cast<double>(likelihood.values);
  const int of_curve = likelihood.numbers - 2;  // noise moves no curve
  return n * std::log(std::pow(curve_residual, 2)) + 2.0 * of_curve < n * std::log(std::pow(mean_residual, 2)) + 2;
}

bool PulseFit::dies_out(Direction direction) const {
  const bool up = direction == Direction::up;
  const auto found = spec.tables.find(up ? "up" : "down");
  if (found == spec.tables.end() || found->second.size() < 2 || unmeasured == direction) return false;
  const std::vector<double>& table = found->second;
  return up ? table.back() < table[table.size() - 2] / 2 : table[0] < table[1] / 2;
}

std::vector<std::string> PulseFit::bound_warnings() const {
  std::vector<std::string> out;
  bool window_known = true;
  for (const FittedNumber& n : intervals) {
    const bool upper = n.name == "g_max" && !(n.high && *n.high < range.high + range.size());
    const bool dies = dies_out(n.name == "g_max" ? Direction::up : Direction::down);
    const bool lower =
        n.name == "g_min" && !(n.low && *n.low > range.low - range.size()) && (dies || n.value > 0.1 * range.size());
    if (!upper && !lower) continue;
    window_known = false;
    if (dies) {
      out.push_back(
          fmt::format("pulses {} die out towards the {} bound: a table does not say how far beyond the reads it lies. "
                      "A law does, if "
                      "the device has it (--model auto)",
                      upper ? "up" : "down", upper ? "upper" : "lower"));
      continue;
    }
    out.push_back(fmt::format("the {} bound was never approached: the record does not say where it is",
                              upper ? "upper" : "lower"));
  }
  if (const double reached = range.size() / spec.window_S(); !window_known && reached < 0.9) {
    out.push_back(
        fmt::format("device.pulses {:.4g} counts across the whole window, of which the records reached {:.2g} %",
                    spec.pulses, 100 * reached));
  }
  return out;
}

std::vector<std::string> PulseFit::warnings() const {
  std::vector<std::string> out;
  if (unmeasured) {
    const bool up = *unmeasured == Direction::up;
    out.push_back(
        fmt::format("pulses {0} were not measured: the device has the law of pulses {1}, mirrored (asymmetry 0)",
                    up ? "up" : "down", up ? "down" : "up"));
  }
  const std::vector<std::string> of_bounds = law.fails ? std::vector{law.text} : bound_warnings();
  out.insert(out.end(), of_bounds.begin(), of_bounds.end());
  if (std::abs(likelihood.innovation_correlation) > 3 / std::sqrt(static_cast<double>(likelihood.values))) {
    out.push_back(fmt::format(
        "errors of prediction correlate by {:+.2f} from pulse to pulse (white noise: within {:.2f}): the curve has "
        "another shape, or the noise is slow; intervals are too narrow",
        likelihood.innovation_correlation, 2 / std::sqrt(static_cast<double>(likelihood.values))));
  }
  out.insert(out.end(), of_devices.begin(), of_devices.end());
  return out;
}

void refresh(PulseFit& fit, const std::vector<PulseRecord>& records) {
  fit.spec = fit.likelihood.spec;
  set_mean_pulses(fit.spec);
  fit.range = range_of(records);
  fit.unmeasured = unmeasured_direction(records);
  measure_residuals(fit, records);
  fit.spec.update = PulseMode::pulsed;
  fit.spec.validate();
}

PulseFit fit_records(const std::vector<PulseRecord>& records, const std::string& model, int points, LeakLaw leak,
                     const ToldNoise& noise) {
  NUDGE_EXPECT(!records.empty());
  check_request(model, points);
  PulseFit fit;
  const LeakGuess guess = leak == LeakLaw::none ? LeakGuess{} : first_leak(records);
  fit.likelihood = largest_likelihood(first_guesses(records, model, points, guess), records, noise);
  refresh(fit, records);
  return fit;
}

void add_intervals(PulseFit& fit, const std::vector<PulseRecord>& records) {
  fit.intervals = profile_intervals(fit.likelihood, records);
  for (LikelihoodFit& rival : fit.likelihood.rivals) span(fit.intervals, profile_intervals(rival, records));
  fit.law = check_law(fit.likelihood, records);
  refresh(fit, records);
  open_bounds(fit);
}

void open_bounds(PopulationFit& fit) {
  constexpr double false_alarms = 0.05;
  const auto fails = [](const DeviceFit& one) { return one.fit.law.fails; };
  const auto count = std::count_if(fit.each.begin(), fit.each.end(), fails);
  const boost::math::binomial alarms(fit.devices, false_alarms);
  if (count == 0 || boost::math::cdf(complement(alarms, static_cast<double>(count - 1))) > false_alarms) return;
  const DeviceFit& first = *std::find_if(fit.each.begin(), fit.each.end(), fails);
  fit.common.law = {
      true, fmt::format("{} (in {} of {} devices, first: {})", first.fit.law.text, count, fit.devices, first.name)};
  for (std::size_t k = 0; k < fit.spreads.size(); ++k) {
    FittedNumber& number = fit.common.intervals[k];
    if (number.name != "g_min" && number.name != "g_max") continue;
    DeviceEstimate& e = fit.spreads[k];
    const bool upper = number.name == "g_max";
    (upper ? number.high : number.low) = std::nullopt;
    (upper ? e.mean_high : e.mean_low) = std::nullopt;
    e.deviation_low = e.deviation_high = std::nullopt;
  }
}

std::string fit_toml(const PulseFit& fit, const std::string& source) {
  std::string out = fmt::format(
      "# {} fitted to {}\n# curve residual (rms): {:.4g} % of the record's range; a horizontal line leaves "
      "{:.4g} %\n"
      "# of it noise of reads: {:.4g} %; from pulse to pulse it correlates by {:+.2f}, errors of prediction by "
      "{:+.2f}\n"
      "# step residual (rms): {:.4g} mean pulses\n",
      fit.spec.model, source, 100 * fit.curve_residual, 100 * fit.mean_residual, 100 * fit.read_noise,
      fit.autocorrelation, fit.likelihood.innovation_correlation, fit.step_residual);
  if (!fit.intervals.empty()) out += "# 95 % intervals, ? where the record does not close them:\n";
  for (const FittedNumber& number : fit.intervals)
    out += fmt::format("#   {} = {}\n", number.name, interval_of(number));
  for (const std::string& warning : fit.warnings()) out += "# warning: " + warning + "\n";
  return out + device_toml(fit.spec);
}

}  // namespace nudge
