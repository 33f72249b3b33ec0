// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/iv_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "devices/fit/iv_trips.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/statistics.hpp"

namespace nudge {
namespace {

constexpr double least_switch = 0.1;  // of the conductance: less is noise or drift of a reader

/// Largest rise or fall of ln(conductance) from one row to the next, between two voltages; 0: none above the noise.
struct IvJump {
  double size = 0, from_V = 0, to_V = 0;
  double middle_V() const { return (from_V + to_V) / 2; }
  double step_V() const { return std::abs(to_V - from_V); }
};

/// sign: 1 of rises, -1 of falls. floor_A: noise of the current as noise_A(), below which its logarithm is none.
IvJump jump_of(const IvWay& way, double c, double sign, double floor_A) {
  std::vector<double> steps;
  const auto place = [&](std::size_t k) {
    return std::asinh(way.amps[k] / floor_A) - std::log(way.volts[k]) - log_sinhc(c * way.volts[k] * way.volts[k]);
  };
  for (std::size_t k = 1; k < way.volts.size(); ++k) {
    if (!way.limited[k] && !way.limited[k - 1]) steps.push_back(place(k) - place(k - 1));
  }
  const double usual = steps.empty() ? 0 : median(steps);
  for (double& step : steps) step = std::abs(step - usual);
  const double spread = steps.empty() ? 0 : median(steps) / 0.6745;
  const auto error = [&](std::size_t k) { return floor_A / 1.65 / std::hypot(way.amps[k], floor_A); };
  constexpr double far = 5;  // errors: one row of a million lies as far by chance
  IvJump jump;
  for (std::size_t k = 1; k < way.volts.size(); ++k) {
    if (way.limited[k] && way.limited[k - 1]) continue;
    const double change = sign * (place(k) - place(k - 1) - usual);
    const double least = std::max(std::log1p(least_switch), far * std::hypot(spread, error(k), error(k - 1)));
    if (change > std::max(least, jump.size)) jump = {change, way.volts[k - 1], way.volts[k]};
  }
  return jump;
}

/// Conductance of the rows from a voltage upwards: their median; NaN where the limit leaves fewer than two.
double level_above(const IvWay& way, double from_V, double c) {
  std::vector<double> logs;
  for (std::size_t k = 0; k < way.volts.size(); ++k) {
    if (way.volts[k] < from_V || way.limited[k] || std::isnan(way.log_S[k])) continue;
    logs.push_back(way.log_S[k] - log_sinhc(c * way.volts[k] * way.volts[k]));
  }
  return logs.size() < 2 ? std::numeric_limits<double>::quiet_NaN() : std::exp(median(logs));
}

/// True if a lobe rises on the way out, falls at a smaller voltage on the way back, and conducts below it as it did before: it went on
/// and came back by itself. Three rows must show that; a state gone in fewer is missed by the next lobe (lost_states()).
bool returns_by_itself(const IvTrip& trip, double c, double digit_A, IvLobe& lobe) {
  const double floor = std::max(noise_A(trip.out, 0.2 * std::abs(trip.peak_V)), digit_A / 2);
  const IvJump rise = jump_of(trip.out, c, 1, floor), fall = jump_of(trip.back, c, -1, floor);
  if (rise.size == 0 || fall.size == 0 || fall.from_V >= rise.to_V) return false;
  const double below = std::min(fall.to_V, 0.5 * rise.to_V);  // the same rows both ways: a curve is in both levels
  const auto rows = [](const IvWay& way, const auto& counts) {
    return std::count_if(way.volts.begin(), way.volts.end(), counts);
  };
  if (rows(trip.back, [below](double v) { return v <= below; }) < 3) return false;
  if (rows(trip.out, [&rise](double v) { return v >= rise.to_V; }) +
          rows(trip.back, [&fall](double v) { return v >= fall.from_V; }) <
      2) {
    return false;
  }
  const IvLevel before = level_of(trip.out, below, c, digit_A), after = level_of(trip.back, below, c, digit_A);
  const double apart = std::abs(std::log(after.value_S / before.value_S));
  if (!(before.hidden && after.hidden) && !(apart < 0.5 * std::min(rise.size, fall.size))) return false;
  lobe.before_S = before.value_S, lobe.after_S = after.value_S;
  lobe.before_hidden = before.hidden, lobe.after_hidden = after.hidden;
  lobe.returns = true;
  lobe.on_S = level_above(trip.back, fall.from_V, c);
  lobe.rise_V = std::copysign(rise.middle_V(), trip.peak_V), lobe.step_V = rise.step_V();
  lobe.hold_V = std::copysign(fall.middle_V(), trip.peak_V), lobe.hold_step_V = fall.step_V();
  return true;
}

IvLobe lobe_of(const IvTrip& trip, double c, double digit_A) {
  IvLobe lobe;
  lobe.peak_V = trip.peak_V;
  if (returns_by_itself(trip, c, digit_A, lobe)) return lobe;
  const double below = 0.5 * steepest_V(trip);
  const IvLevel out = level_of(trip.out, below, c, digit_A), back = level_of(trip.back, below, c, digit_A);
  const double before = std::log(out.value_S), after = std::log(back.value_S);
  lobe.before_S = out.value_S, lobe.after_S = back.value_S;
  lobe.before_hidden = out.hidden, lobe.after_hidden = back.hidden;
  if (!(std::abs(after - before) > std::log1p(least_switch)) || (out.hidden && back.hidden)) return lobe;
  double last = 0, last_V = 0;
  const auto pass = [&](const IvWay& way) {
    for (std::size_t k = 0; k < way.volts.size(); ++k) {
      const double v = way.volts[k];
      if (way.limited[k]) {
        if (after > before) {  // it set between the last row below the limit and the first at it
          lobe.step_V = std::abs(v - last_V);
          lobe.threshold_V = std::copysign((last_V + v) / 2, trip.peak_V);
          return true;
        }
        last = 0, last_V = v;  // still on
        continue;
      }
      const double part = (way.log_S[k] - before - log_sinhc(c * v * v)) / (after - before);
      if (v > 0.2 * std::abs(trip.peak_V) && part >= 0.5) {
        const double share = part > last ? (0.5 - last) / (part - last) : 1;
        lobe.step_V = std::abs(v - last_V);
        lobe.threshold_V = std::copysign(last_V + std::clamp(share, 0.0, 1.0) * (v - last_V), trip.peak_V);
        return true;
      }
      if (std::isfinite(part)) last = part, last_V = v;
    }
    return false;
  };
  if (pass(trip.out)) return lobe;
  pass(trip.back);
  return lobe;
}

/// Mean over lobes with Student's interval; of one lobe `resolution` to either side.
IvNumber mean_over_lobes(const std::vector<double>& values, double resolution) {
  IvNumber out;
  out.n = static_cast<int>(values.size());
  if (values.empty()) return out;
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / out.n;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double half = out.n > 1 ? student_t_half_width(std::sqrt(squares / (out.n - 1)), out.n) : 0;
  out.value = mean;
  if (out.n > 1 || resolution > 0) {
    const double wide = std::max(half, resolution / std::sqrt(12.0 * out.n) * 1.96);  // a step is a uniform error
    out.low = mean - wide, out.high = mean + wide;
  }
  return out;
}

IvNumber of_logarithm(IvNumber n) {
  n.value = std::exp(n.value), n.low = std::exp(n.low), n.high = std::exp(n.high);
  return n;
}

/// Smallest current of a file that is not 0.
double smallest_current(const IvData& data) {
  double least = std::numeric_limits<double>::infinity();
  for (const IvSweep& sweep : data.sweeps) {
    for (const double i : sweep.current_A) least = i != 0 ? std::min(least, std::abs(i)) : least;
  }
  return least;
}

/// Off state of several lobes whose noise hides it in some: their mean, or the most that it may be.
void take_hidden(const std::vector<IvLobe>& lobes, IvReads& reads) {
  double most = 0;
  bool any = false;
  for (const IvLobe& lobe : lobes) {
    if (std::isnan(lobe.threshold_V) && !lobe.returns) continue;
    const bool rises = lobe.returns || lobe.after_S > lobe.before_S,
               hidden = rises ? lobe.before_hidden : lobe.after_hidden;
    any = any || hidden;
    if (hidden) most = std::max(most, rises ? lobe.before_S : lobe.after_S);
  }
  if (!any) return;
  reads.off_below_S = most;
  reads.off_S = reads.ratio = {};
}

/// Means of a voltage of lobes, apart for either sign: first the sign that has more. A mean of both would be near 0 V.
std::vector<IvNumber> by_sign(const std::vector<IvLobe>& lobes, const auto& voltage, const auto& step) {
  std::vector<double> own[2];
  double resolution[2] = {};
  for (const IvLobe& lobe : lobes) {
    const double volts = voltage(lobe);
    if (std::isnan(volts)) continue;
    const int side = volts < 0 ? 1 : 0;
    own[side].push_back(volts);
    resolution[side] = std::max(resolution[side], step(lobe));
  }
  const int first = own[1].size() > own[0].size() ? 1 : 0;
  std::vector<IvNumber> out;
  for (const int side : {first, 1 - first}) {
    if (!own[side].empty()) out.push_back(mean_over_lobes(own[side], resolution[side]));
  }
  return out;
}

/// Voltages of sets, resets and returns.
void take_voltages(IvReads& reads) {
  const auto step = [](const IvLobe& lobe) { return lobe.step_V; };
  const auto of = [&](bool rises) {
    return by_sign(
        reads.lobes,
        [rises](const IvLobe& lobe) {
          return (lobe.after_S > lobe.before_S) == rises ? lobe.threshold_V : std::numeric_limits<double>::quiet_NaN();
        },
        step);
  };
  const std::vector<IvNumber> set = of(true), reset = of(false);
  if (!set.empty()) reads.set_V = set[0];
  if (set.size() > 1) reads.other_set_V = set[1];
  if (!reset.empty()) reads.reset_V = reset[0];
  if (reset.size() > 1) reads.other_reset_V = reset[1];
  reads.threshold_V = by_sign(
      reads.lobes, [](const IvLobe& lobe) { return lobe.rise_V; }, step);
  reads.hold_V = by_sign(
      reads.lobes, [](const IvLobe& lobe) { return lobe.hold_V; }, [](const IvLobe& lobe) { return lobe.hold_step_V; });
}

/// Number of lobes after which an on state was gone without a reset, at voltages of the same sign: of one device, through its cycles.
int lost_states(const IvData& data, const std::vector<IvLobe>& lobes) {
  const auto device = [&data](const IvLobe& lobe) { return data.sweeps[lobe.sweep].device; };
  int lost = 0;
  for (std::size_t k = 0; k < lobes.size(); ++k) {
    const IvLobe& set = lobes[k];
    if (std::isnan(set.threshold_V) || !(set.after_S > set.before_S)) continue;
    for (std::size_t n = k + 1; n < lobes.size(); ++n) {
      if (device(lobes[n]) != device(set)) continue;
      const bool switches = !std::isnan(lobes[n].threshold_V), rises = lobes[n].after_S > lobes[n].before_S;
      if (switches && !rises) break;  // reset
      if (lobes[n].peak_V * set.peak_V < 0) continue;
      lost += std::log(lobes[n].before_S) < 0.5 * (std::log(set.before_S) + std::log(set.after_S)) ? 1 : 0;
      break;
    }
  }
  return lost;
}

}  // namespace

double IvReads::sinh_V() const { return curvature_per_V2.low > 0 ? 1 / std::sqrt(curvature_per_V2.value) : 0; }

IvReads look_at_sweeps(const IvData& data) {
  std::vector<IvTrip> trips;
  std::vector<std::size_t> of_sweep;
  for (std::size_t s = 0; s < data.sweeps.size(); ++s) {
    for (IvTrip& trip : trips_of(data.sweeps[s], data.limits)) trips.push_back(std::move(trip)), of_sweep.push_back(s);
  }
  if (trips.empty()) {
    csv_fail(
        data.file,
        fmt::format("{} rows, but none goes out from 0 V and comes back with 4 rows each way. A sweep is 0, up to "
                    "the set voltage, back to 0 and the same below 0 (columns cycle and device keep several apart)",
                    data.sweeps.empty() ? 0 : data.sweeps.front().volts.size()));
  }
  IvReads reads;
  reads.curvature_per_V2 = curvature_of(trips);
  const double c = reads.sinh_V() > 0 ? reads.curvature_per_V2.value : 0;
  const double digit = smallest_current(data);
  std::vector<double> on, off, ratio;
  const auto take = [](std::vector<double>& to, double value) {
    if (std::isfinite(value)) to.push_back(std::log(value));
  };
  for (const IvTrip& trip : trips) {
    IvLobe lobe = lobe_of(trip, c, digit);
    lobe.sweep = of_sweep[reads.lobes.size()];
    reads.lobes.push_back(lobe);
    if (!lobe.switches()) continue;
    ++reads.switched;
    reads.returned += lobe.returns ? 1 : 0;
    const double high = lobe.returns ? lobe.on_S : std::max(lobe.before_S, lobe.after_S);
    const double low = lobe.returns ? lobe.before_S : std::min(lobe.before_S, lobe.after_S);
    take(on, high), take(off, low), take(ratio, high / low);
  }
  reads.on_S = of_logarithm(mean_over_lobes(on, 0));
  reads.off_S = of_logarithm(mean_over_lobes(off, 0));
  reads.ratio = of_logarithm(mean_over_lobes(ratio, 0));
  take_voltages(reads);
  reads.returned += lost_states(data, reads.lobes);
  take_hidden(reads.lobes, reads);
  return reads;
}

}  // namespace nudge
