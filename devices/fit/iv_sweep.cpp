// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/iv_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/base/statistics.hpp"

namespace nudge {
namespace {

enum IvColumn : std::size_t { volts_at, amps_at, seconds_at, iv_device_at, iv_cycle_at };

std::vector<LongColumn> iv_columns() {
  return {{"voltage", Unit::volt, true},
          {"current", Unit::ampere, true},
          {"time", Unit::second, false},
          {"device", Unit::none, false},
          {"cycle", Unit::none, false}};
}

/// Current at voltages of one sign at which three rows or more are cut off: an instrument's compliance.
double limit_of(const std::vector<IvSweep>& sweeps, bool positive) {
  const auto counts = [&](double volts) { return positive ? volts > 0 : volts < 0; };
  double most = 0;
  for (const IvSweep& sweep : sweeps) {
    for (std::size_t k = 0; k < sweep.volts.size(); ++k) {
      if (counts(sweep.volts[k])) most = std::max(most, std::abs(sweep.current_A[k]));
    }
  }
  int at_most = 0;
  double lowest = std::numeric_limits<double>::infinity(), highest = 0;
  for (const IvSweep& sweep : sweeps) {
    for (std::size_t k = 0; k < sweep.volts.size(); ++k) {
      if (!counts(sweep.volts[k]) || std::abs(sweep.current_A[k]) < 0.999 * most) continue;
      ++at_most;
      lowest = std::min(lowest, std::abs(sweep.volts[k]));
      highest = std::max(highest, std::abs(sweep.volts[k]));
    }
  }
  // A current that is the same over a tenth of the voltage is a source of current, not a device.
  return at_most >= 3 && highest > 1.1 * lowest ? most : std::numeric_limits<double>::infinity();
}

/// Currents with the sign of their voltage; a file of magnitudes has none that is negative.
void check_signs(IvData& data, Understood& said) {
  double most = 0;
  bool negative = false;
  for (const IvSweep& sweep : data.sweeps) {
    for (const double i : sweep.current_A) most = std::max(most, std::abs(i)), negative = negative || i < 0;
  }
  bool turned = false;
  for (IvSweep& sweep : data.sweeps) {
    for (std::size_t k = 0; k < sweep.volts.size(); ++k) {
      if (sweep.volts[k] * sweep.current_A[k] >= 0) continue;
      if (negative && std::abs(sweep.current_A[k]) > 0.01 * most) {  // less is an offset of the reader
        csv_fail(fmt::format("{}:{}", data.file, sweep.lines[k]),
                 fmt::format("{:g} A flow against {:g} V: a memristor is passive (is the sign of one column turned?)",
                             sweep.current_A[k], sweep.volts[k]));
      }
      sweep.current_A[k] = -sweep.current_A[k];
      turned = true;
    }
  }
  if (turned && !negative) said.notes.push_back("currents are magnitudes: they take the sign of their voltage");
}

}  // namespace

IvData parse_iv(std::string_view text, const std::string& file, double rate_Hz, TableLook& look) {
  const LongTable table = parse_long_table(text, file, iv_columns(), {"voltage", "current"}, look);
  const bool times = !table.columns[seconds_at].empty();
  if (times && rate_Hz > 0) csv_fail(file, "--rate is for sweeps without times: this table has a column time");
  std::map<std::pair<double, double>, std::size_t> place;
  IvData data{file, {}};
  for (std::size_t i = 0; i < table.lines.size(); ++i) {
    const auto cell = [&](std::size_t c) { return table.columns[c].empty() ? 0 : table.columns[c][i]; };
    const auto [at, fresh] = place.try_emplace({cell(iv_device_at), cell(iv_cycle_at)}, data.sweeps.size());
    if (fresh) data.sweeps.push_back({cell(iv_device_at), cell(iv_cycle_at), {}, {}, {}, {}});
    IvSweep& sweep = data.sweeps[at->second];
    const double seconds =
        times ? table.columns[seconds_at][i] : static_cast<double>(sweep.volts.size()) / (rate_Hz > 0 ? rate_Hz : 1);
    if ((times || rate_Hz > 0) && !sweep.time_s.empty() && seconds <= sweep.time_s.back()) {
      csv_fail(
          fmt::format("{}:{}", file, table.lines[i]),
          fmt::format("time {:g} s follows {:g} s (sweeps of several cycles or devices have columns cycle, device)",
                      seconds, sweep.time_s.back()));
    }
    if (times || rate_Hz > 0) sweep.time_s.push_back(seconds);
    sweep.volts.push_back(table.columns[volts_at][i]);
    sweep.current_A.push_back(table.columns[amps_at][i]);
    sweep.lines.push_back(table.lines[i]);
  }
  check_signs(data, look.understood.back());
  data.limits = {limit_of(data.sweeps, true), limit_of(data.sweeps, false)};
  for (const double volts : {1.0, -1.0}) {
    if (!std::isfinite(data.limits.at(volts))) continue;
    look.understood.back().notes.push_back(
        fmt::format("at {} voltages the current is limited to {:g} A: rows there are no states of the device",
                    volts > 0 ? "positive" : "negative", data.limits.at(volts)));
  }
  return data;
}

namespace {

/// Rows of one way, |V| and ln(I/V).
struct IvWay {
  std::vector<double> volts, log_S;
  double limited_V = 0;  ///< first voltage at the instrument's limit; 0: none
  void add(double v, double i, const IvLimits& limits) {
    if (v != 0 && limits.holds(v, i) && limited_V == 0) limited_V = std::abs(v);
    if (v == 0 || !(i / v > 0) || limits.holds(v, i)) return;
    volts.push_back(std::abs(v));
    log_S.push_back(std::log(i / v));
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
    if (way.volts[k] <= most_V && way.volts[k] >= 0.1 * most_V) v.push_back(way.volts[k]), y.push_back(way.log_S[k]);
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

/// Voltage at which ln(I/V) changes most from row to row; the first at the instrument's limit, which hides the change.
double steepest_V(const IvTrip& trip) {
  if (trip.out.limited_V > 0) return trip.out.limited_V;
  double most = 0, at = std::abs(trip.peak_V);
  const IvWay& out = trip.out;
  for (std::size_t k = 1; k < out.volts.size(); ++k) {
    const double change = std::abs(out.log_S[k] - out.log_S[k - 1]);
    if (out.volts[k] > 0.2 * std::abs(trip.peak_V) && change > most) most = change, at = out.volts[k];
  }
  return at;
}

constexpr double least_switch = 0.1;  // of the conductance: less is noise or drift of a reader

IvLobe lobe_of(const IvTrip& trip, double c) {
  const double below = 0.5 * steepest_V(trip);
  // With c known the level of each way is a mean.
  const auto level = [&](const IvWay& way) {
    double sum = 0, n = 0;
    for (std::size_t k = 0; k < way.volts.size(); ++k) {
      if (way.volts[k] > below) continue;
      const double weight = way.volts[k] * way.volts[k];  // an offset of the current counts less at large voltages
      sum += weight * (way.log_S[k] - log_sinhc(c * way.volts[k] * way.volts[k]));
      n += weight;
    }
    return n > 0 ? sum / n : std::numeric_limits<double>::quiet_NaN();
  };
  const double before = level(trip.out), after = level(trip.back);
  IvLobe lobe{trip.peak_V, std::exp(before), std::exp(after)};
  if (!(std::abs(after - before) > std::log1p(least_switch))) return lobe;
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
      last = part, last_V = v;
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
  for (const IvSweep& sweep : data.sweeps) {
    for (IvTrip& trip : trips_of(sweep, data.limits)) trips.push_back(std::move(trip));
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
  std::vector<double> set, reset, on, off, ratio;
  double set_step = 0, reset_step = 0;
  for (const IvTrip& trip : trips) {
    const IvLobe lobe = lobe_of(trip, c);
    reads.lobes.push_back(lobe);
    if (std::isnan(lobe.threshold_V)) continue;
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
  return reads;
}

}  // namespace nudge
