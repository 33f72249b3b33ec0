// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/iv_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/base/statistics.hpp"

namespace nudge {
namespace {

/// Rows of one way, |V|, the current along it, and ln(I/V), which is NaN where noise has turned the current.
struct IvWay {
  std::vector<double> volts, amps, log_S;
  double limited_V = 0;  ///< first voltage at the instrument's limit; 0: none
  void add(double v, double i, const IvLimits& limits) {
    if (v != 0 && limits.holds(v, i) && limited_V == 0) limited_V = std::abs(v);
    if (v == 0 || limits.holds(v, i)) return;
    volts.push_back(std::abs(v));
    amps.push_back(v < 0 ? -i : i);
    log_S.push_back(i / v > 0 ? std::log(i / v) : std::numeric_limits<double>::quiet_NaN());
  }
};

/// ln(sinh(√z)/√z), z = (V/V0)²; its tangent for z < 0.
double log_sinhc(double z) {
  if (z < 1e-6) return z / 6;
  const double u = std::sqrt(z);
  return u + std::log(-std::expm1(-2 * u) / (2 * u));
}

/// Line of ln(I/V) over V² at small V: ln G and the initial slope, c/6.
struct WayFit {
  double log_S = 0, c = 0, c_error = std::numeric_limits<double>::infinity();
  int rows = 0;
};

/// Least squares of ln(I/V) = ln G + ln(sinh(√(c V²))/√(c V²)) below `most_V`, by Gauss–Newton in c. Noise makes
/// the c of a straight line negative as often as positive: a bound at 0 would lift the mean of many.
WayFit fit_way(const IvWay& way, double most_V) {
  std::vector<double> v, y;
  for (std::size_t k = 0; k < way.volts.size(); ++k) {
    if (way.volts[k] > most_V || way.volts[k] < 0.1 * most_V) continue;
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

/// Both ways of a lobe.
struct IvTrip {
  IvWay out, back;
  double peak_V = 0;
};

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
    if (trip.out.volts.size() >= 4 && trip.back.volts.size() >= 4) trips.push_back(std::move(trip));
    k = end;
  }
  return trips;
}

/// Noise of the current: median of the second differences of rows below a voltage; 0: fewer than five of them.
double noise_A(const IvWay& way, double below_V) {
  std::vector<double> bends;
  for (std::size_t k = 2; k < way.volts.size(); ++k) {
    if (std::max({way.volts[k], way.volts[k - 1], way.volts[k - 2]}) > below_V) continue;
    bends.push_back(std::abs(way.amps[k] - 2 * way.amps[k - 1] + way.amps[k - 2]));
  }
  return bends.size() < 3 ? 0 : median(bends);
}

/// Voltage at which ln(I/V) changes most from row to row, of currents above their noise; the first at the instrument's limit, which
/// hides the change.
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

constexpr double least_switch = 0.1;  // of the conductance: less is noise or drift of a reader
constexpr double above_noise = 3;     // standard errors: a conductance of less is one of the instrument's noise

/// Small-signal conductance of a way, from the rows below a voltage.
struct IvLevel {
  double value_S = std::numeric_limits<double>::quiet_NaN();  ///< of a hidden one the most that it may be
  bool hidden = false;
};

/// Slope of I over s = V sinh(√c V)/(√c V). Its error is that of a line with an intercept: rectified noise is an intercept without a slope.
IvLevel level_of(const IvWay& way, double below_V, double c, double digit_A) {
  double largest_V = 0, n = 0, s1 = 0, i1 = 0, ss = 0, si = 0, ii = 0;
  for (std::size_t k = 0; k < way.volts.size(); ++k) {
    if (way.volts[k] > below_V) continue;
    const double s = way.volts[k] * std::exp(log_sinhc(c * way.volts[k] * way.volts[k])), i = way.amps[k];
    largest_V = std::max(largest_V, way.volts[k]);
    n += 1, s1 += s, i1 += i, ss += s * s, si += s * i, ii += i * i;
  }
  IvLevel level;
  if (n == 0) return level;
  level.value_S = si / ss;
  const double sxx = ss - s1 * s1 / n, sxy = si - s1 * i1 / n, syy = ii - i1 * i1 / n;
  if (n < 4 || !(sxx > 1e-12 * ss)) return level;
  const double slope = sxy / sxx, error = std::sqrt(std::max(syy - slope * sxy, 0.0) / (n - 2) / sxx);
  if (slope > above_noise * error) return level;
  const double most = std::max(slope, 0.0) + 2 * error;
  return {most > 0 ? most : digit_A / largest_V, true};  // currents that are all 0 are below the file's digit
}

/// True if the device conducts near the peak but neither before nor after: it went on and came back by itself. Sets hold_V.
bool returns_by_itself(const IvTrip& trip, double c, double before, double after, double& hold_V) {
  constexpr double far = 1.1;                           // ln 3
  if (!(std::abs(after - before) < far)) return false;  // it kept a state
  const double rest = std::max(before, after), peak = std::abs(trip.peak_V);
  const auto above = [&](const IvWay& way, std::size_t k) {
    return way.log_S[k] - log_sinhc(c * way.volts[k] * way.volts[k]) - rest;
  };
  const auto jump = [&](const IvWay& way, double& at_V) {  // ln of the largest change between neighbouring rows
    double most = 0;
    for (std::size_t k = 1; k < way.volts.size(); ++k) {
      const double change = std::abs(above(way, k) - above(way, k - 1));
      if (way.volts[k] > 0.1 * peak && change > most) most = change, at_V = (way.volts[k] + way.volts[k - 1]) / 2;
    }
    return most;
  };
  int on = trip.out.limited_V > 0 ? 2 : 0;  // rows near the peak that conduct; the limit hides them
  for (const IvWay* way : {&trip.out, &trip.back}) {
    for (std::size_t k = 0; k < way->volts.size(); ++k)
      on += way->volts[k] > 0.8 * peak && above(*way, k) > far ? 1 : 0;
  }
  double up_V = 0;
  return on >= 2 && jump(trip.back, hold_V) > far && (trip.out.limited_V > 0 || jump(trip.out, up_V) > far);
}

IvLobe lobe_of(const IvTrip& trip, double c, double digit_A) {
  const auto lobe_with = [&trip](const IvLevel& out, const IvLevel& back) {
    return IvLobe{trip.peak_V, out.value_S, back.value_S, std::numeric_limits<double>::quiet_NaN(),
                  0,           out.hidden,  back.hidden};
  };
  const double lowest = 0.2 * std::abs(trip.peak_V);  // below the voltage at which a switch lets go
  const IvLevel first = level_of(trip.out, lowest, c, digit_A), last_level = level_of(trip.back, lowest, c, digit_A);
  double hold_V = 0;
  if (returns_by_itself(trip, c, std::log(first.value_S), std::log(last_level.value_S), hold_V)) {
    IvLobe lobe = lobe_with(first, last_level);
    lobe.returns = true;
    lobe.hold_V = hold_V;
    return lobe;
  }
  const double below = 0.5 * steepest_V(trip);
  const IvLevel out = level_of(trip.out, below, c, digit_A), back = level_of(trip.back, below, c, digit_A);
  const double before = std::log(out.value_S), after = std::log(back.value_S);
  IvLobe lobe = lobe_with(out, back);
  if (!(std::abs(after - before) > std::log1p(least_switch)) || (out.hidden && back.hidden)) return lobe;
  double last = 0, last_V = 0;
  const auto pass = [&](const IvWay& way) {
    for (std::size_t k = 0; k < way.volts.size(); ++k) {
      const double v = way.volts[k];
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
  if (trip.out.limited_V > last_V &&
      after > before) {  // it set between the last row below the limit and the first at it
    lobe.step_V = trip.out.limited_V - last_V;
    lobe.threshold_V = std::copysign((last_V + trip.out.limited_V) / 2, trip.peak_V);
    return lobe;
  }
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
    if (std::isnan(lobe.threshold_V)) continue;
    const bool rises = lobe.after_S > lobe.before_S, hidden = rises ? lobe.before_hidden : lobe.after_hidden;
    any = any || hidden;
    if (hidden) most = std::max(most, rises ? lobe.before_S : lobe.after_S);
  }
  if (!any) return;
  reads.off_below_S = most;
  reads.off_S = reads.ratio = {};
}

/// Number of lobes after which an on state was gone without a reset, at voltages of the same sign.
int lost_states(const std::vector<IvLobe>& lobes) {
  int lost = 0;
  for (std::size_t k = 0; k < lobes.size(); ++k) {
    const IvLobe& set = lobes[k];
    if (std::isnan(set.threshold_V) || !(set.after_S > set.before_S)) continue;
    for (std::size_t n = k + 1; n < lobes.size() && lobes[n].sweep == set.sweep; ++n) {
      const bool switches = !std::isnan(lobes[n].threshold_V), rises = lobes[n].after_S > lobes[n].before_S;
      if (switches && !rises) break;  // reset
      if (lobes[n].peak_V * set.peak_V < 0) continue;
      lost += std::log(lobes[n].before_S) < 0.5 * (std::log(set.before_S) + std::log(set.after_S)) ? 1 : 0;
      break;
    }
  }
  return lost;
}

/// Curvature over all ways, weighted by their errors; the interval is open below where it holds 0.
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
  std::vector<double> set, reset, on, off, ratio, hold;
  double set_step = 0, reset_step = 0;
  for (const IvTrip& trip : trips) {
    IvLobe lobe = lobe_of(trip, c, digit);
    lobe.sweep = of_sweep[reads.lobes.size()];
    reads.lobes.push_back(lobe);
    if (lobe.returns) hold.push_back(lobe.hold_V);
    if (std::isnan(lobe.threshold_V)) continue;
    ++reads.switched;
    const bool rises = lobe.after_S > lobe.before_S;
    (rises ? set : reset).push_back(lobe.threshold_V);
    double& step = rises ? set_step : reset_step;
    step = std::max(step, lobe.step_V);
    on.push_back(std::log(std::max(lobe.before_S, lobe.after_S)));
    off.push_back(std::log(std::min(lobe.before_S, lobe.after_S)));
    ratio.push_back(on.back() - off.back());
  }
  reads.set_V = mean_over_lobes(set, set_step);
  reads.reset_V = mean_over_lobes(reset, reset_step);
  reads.on_S = of_logarithm(mean_over_lobes(on, 0));
  reads.off_S = of_logarithm(mean_over_lobes(off, 0));
  reads.ratio = of_logarithm(mean_over_lobes(ratio, 0));
  reads.switched += static_cast<int>(hold.size());
  reads.returned = static_cast<int>(hold.size()) + lost_states(reads.lobes);
  reads.hold_V = mean_over_lobes(hold, 0);
  take_hidden(reads.lobes, reads);
  return reads;
}

}  // namespace nudge
