// SPDX-License-Identifier: Apache-2.0
// What `nudge devices characterize` writes and prints.
#include "devices/characterize/characterize.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "devices/device_array.hpp"
#include "devices/device_levels.hpp"
#include "devices/memristor/pulsed_memristor.hpp"
#include "devices/pulse_effects.hpp"
#include "devices/registry.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

using Array = DeviceArray<double>;

void require(bool ok, const char* name, double value, const char* rule) {
  if (!ok) throw UserError(fmt::format("devices characterize: --{} {:g} (must be {})", name, value, rule));
}

double mean_of(const Matrix<double>& g) { return g.mean(); }
/// Relative size below which a spread is rounding.
constexpr double rounding = 1e-12;

double spread_of(const Matrix<double>& g) {
  const double spread = std::sqrt((g.array() - g.mean()).square().mean());
  return spread > rounding * std::abs(g.mean()) ? spread : 0;
}

Array make(const Characterization& c, std::uint32_t entity) {
  return {c.spec, 1, c.options.devices, {c.options.seed, entity, 0}, 1};
}

/// Sends `pulses` mean pulses to every device, up or down; `step` numbers the operation.
PulseCount send(Array& array, const Characterization& c, double pulses, bool up, std::uint64_t step) {
  const double request = pulses * c.spec.window_S() / c.spec.pulses;
  return array.update(Matrix<double>::Ones(1, c.options.devices), up ? request : -request, step);
}

/// Writes every device to a bound: far beyond it.
Array at_bound(const Characterization& c, bool upper) {
  Array array = make(c, 0);
  array.program(Matrix<double>::Constant(1, c.options.devices, (upper ? 100 : -100) * c.spec.window_S()), 0);
  return array;
}

/// Part of pulse k + 1 from a bound that takes the mean device to a conductance: of a law in time a shorter pulse does so. Nothing: the model has
/// no such law.
std::optional<double> part_of_pulse(const Characterization& c, bool up, std::uint64_t k, double conductance_S) {
  constexpr int parts = 64;
  if (!has_equation(c.spec)) return {};
  Array array = at_bound(c, !up);
  for (std::uint64_t sent = 1; sent <= k; ++sent) send(array, c, 1, up, sent);
  std::vector<Index> all(static_cast<std::size_t>(c.options.devices));
  std::iota(all.begin(), all.end(), Index{0});
  const Matrix<double> one = Matrix<double>::Constant(1, c.options.devices, up ? 1 : -1);
  PulseChange shorter;
  shorter.longer = 1.0 / parts;
  double before = mean_of(array.conductance());
  for (int part = 0; part < parts; ++part) {
    array.pulse(all, one, k + 1 + static_cast<std::uint64_t>(part), shorter);
    const double now = mean_of(array.conductance());
    if (up ? now >= conductance_S : now <= conductance_S) {
      return (part + (conductance_S - before) / (now - before)) / parts;
    }
    before = now;
  }
  return {};
}

/// Pulses that take the mean device from a bound to the middle between its bounds, linearly between looks, and by parts of a pulse where
/// that is known; 0: not within ten windows.
double to_middle(const Characterization& c, bool up) {
  constexpr double most_windows = 10, looks_per_window = 1000;
  const double middle = 0.5 * (mean_of(at_bound(c, false).conductance()) + mean_of(at_bound(c, true).conductance()));
  const double pulses = std::ceil(c.spec.pulses / looks_per_window);
  Array array = at_bound(c, !up);
  double before = mean_of(array.conductance());
  for (std::uint64_t k = 0; static_cast<double>(k) * pulses < most_windows * c.spec.pulses + pulses; ++k) {
    send(array, c, pulses, up, k + 1);
    const double now = mean_of(array.conductance());
    if (up ? now >= middle : now <= middle) {
      const auto part = pulses == 1 ? part_of_pulse(c, up, k, middle) : std::nullopt;
      return pulses * (static_cast<double>(k) + part.value_or((middle - before) / (now - before)));
    }
    before = now;
  }
  return 0;
}

Staircase staircase(const Characterization& c) {
  Staircase s;
  // One and a half windows of mean pulses each way, so that saturation shows; whole pulses per point.
  const double total = std::ceil(1.5 * c.spec.pulses);
  s.pulses_per_point = std::ceil(total / c.options.points);
  const int points = static_cast<int>(std::ceil(total / s.pulses_per_point));
  Array array = at_bound(c, false);
  const int sends = c.options.one_by_one ? static_cast<int>(s.pulses_per_point) : 1;
  s.conductance_S.resize(c.options.devices, 2 * points + 1);
  for (int i = 0; i <= 2 * points; ++i) {
    for (int k = 0; i > 0 && k < sends; ++k) {
      send(array, c, s.pulses_per_point / sends, i <= points,
           static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(sends) + static_cast<std::uint64_t>(k));
    }
    s.pulse.push_back(i * s.pulses_per_point);
    s.mean_S.push_back(mean_of(array.conductance()));
    s.spread_S.push_back(spread_of(array.conductance()));
    s.conductance_S.col(i) = array.conductance().row(0).transpose();
  }
  s.half_up = to_middle(c, true);
  s.half_down = to_middle(c, false);
  return s;
}

Endurance endurance(const Characterization& c) {
  Endurance e;
  Array array = make(c, 1);
  std::uint64_t step = 0;
  double sent = 0;
  for (int k = 0; k < c.options.cycles; ++k) {
    e.cycle.push_back(k + 1);
    for (const bool up : {true, false}) {
      const PulseCount count = send(array, c, std::ceil(3 * c.spec.pulses), up, ++step);
      sent += static_cast<double>(count.up + count.down) / static_cast<double>(c.options.devices);
      (up ? e.high_S : e.low_S).push_back(mean_of(array.conductance()));
      (up ? e.high_spread_S : e.low_spread_S).push_back(spread_of(array.conductance()));
    }
    e.pulses.push_back(sent);
  }
  return e;
}

/// Five conductances over the window, or the levels nearest to them, each once.
std::vector<double> retention_targets(const DeviceSpec& spec) {
  std::vector<double> targets;
  for (int k = 0; k < 5; ++k) {
    // A cell of few levels has a lowest and a highest one, which its ends show.
    const double share = spec.levels == 0 ? 0.1 + 0.2 * k : 0.25 * k;
    const double target = nearest_level_S(spec, spec.g_min_S + spec.window_S() * share);
    if (targets.empty() || target > targets.back()) targets.push_back(target);
  }
  return targets;
}

Retained retained(const Characterization& c) {
  Retained r;
  r.target_S = retention_targets(c.spec);
  const auto levels = static_cast<Index>(r.target_S.size());
  for (int decade = 0; decade <= 8; ++decade) r.time_s.push_back(std::pow(10.0, decade));
  const auto times = static_cast<Index>(r.time_s.size());
  r.mean_S.resize(levels, times);
  r.spread_S.resize(levels, times);
  for (Index level = 0; level < levels; ++level) {
    const double target = r.target_S[static_cast<std::size_t>(level)];
    Array array = make(c, 2 + static_cast<std::uint32_t>(level));
    array.program(Matrix<double>::Constant(1, c.options.devices, target), 0);
    double now = 0;
    for (Index t = 0; t < times; ++t) {
      const double then = r.time_s[static_cast<std::size_t>(t)];
      array.advance_time(then - now, static_cast<std::uint64_t>(t));
      now = then;
      r.mean_S(level, t) = mean_of(array.conductance());
      r.spread_S(level, t) = spread_of(array.conductance());
    }
    const double late = r.mean_S(level, times - 1);
    const double early = r.mean_S(level, times - 5);
    const bool moved = late > 0 && early > 0 && std::abs(late / early - 1) > rounding;
    r.exponent.push_back(moved ? -std::log(late / early) / std::log(1e4) : 0);
  }
  return r;
}

}  // namespace

void CharacterizeOptions::validate() const {
  require(devices >= 1 && devices <= 100000, "devices", static_cast<double>(devices), "in [1, 100000]");
  require(samples >= 64 && samples <= 1000000, "samples", samples, "in [64, 1e6]");
  require(std::isfinite(interval_s) && interval_s > 0, "interval", interval_s, "> 0 seconds");
  require(points >= 1 && points <= 10000, "points", points, "in [1, 10000]");
  require(record == 0 || (record >= 2 && record <= 1e6 && record == std::round(record)), "record", record,
          "a whole number in [2, 1e6]");
  require(cycles >= 1 && cycles <= 10000, "cycles", cycles, "in [1, 10000]");
  if (static_cast<double>(devices) * samples > 1e7) {
    throw UserError(fmt::format(
        "devices characterize: {} devices times {} samples is more than 1e7 looks (each the mean of {}): use fewer",
        devices, samples, looks_per_sample));
  }
}

Characterization characterize(const DeviceSpec& spec, const CharacterizeOptions& options) {
  spec.validate();
  options.validate();
  Characterization c{spec, options, {}, {}, {}, {}, {}};
  c.retained = retained(c);
  c.noise = noise_record(c.spec, c.options);
  if (device_model(spec.model).make(spec)->bounded()) {
    c.staircase = staircase(c);
    c.endurance = endurance(c);
    c.figures = write_figures(c.spec, c.options.record, c.noise.slow_std);
  }
  return c;
}

namespace {

using Json = nlohmann::ordered_json;

std::string siemens(double g) { return format_quantity(g, Unit::siemens, 4); }

void write_staircase(H5Document& file, const Staircase& s) {
  if (s.pulse.empty()) return;
  file.group("staircase", "pulses up from the lower bound, then down");
  file.attribute("half_window_pulses_up", s.half_up, "staircase");
  file.attribute("half_window_pulses_down", s.half_down, "staircase");
  file.column("staircase/pulse", s.pulse, {"1", "pulses sent so far, up and then down", {"point"}});
  file.column("staircase/conductance_mean", s.mean_S, {"S", "mean over the devices", {"point"}});
  file.column("staircase/conductance_std", s.spread_S, {"S", "standard deviation over the devices", {"point"}});
  file.matrix<double>("staircase/conductance", s.conductance_S, {"S", "each device", {"device", "point"}});
}

void write_endurance(H5Document& file, const Endurance& e) {
  if (e.cycle.empty()) return;
  file.group("endurance", "from bound to bound, three windows of pulses each way");
  file.column("endurance/cycle", e.cycle, {"1", "cycle number", {"cycle"}});
  file.column("endurance/pulses", e.pulses, {"1", "pulses per device so far", {"cycle"}});
  file.column("endurance/high_mean", e.high_S, {"S", "conductance after the pulses up, mean", {"cycle"}});
  file.column("endurance/high_std", e.high_spread_S, {"S", "its standard deviation over the devices", {"cycle"}});
  file.column("endurance/low_mean", e.low_S, {"S", "conductance after the pulses down, mean", {"cycle"}});
  file.column("endurance/low_std", e.low_spread_S, {"S", "its standard deviation over the devices", {"cycle"}});
}

Json levels_json(const Retained& r) {
  Json levels = Json::array();
  for (std::size_t k = 0; k < r.target_S.size(); ++k) {
    const auto row = static_cast<Index>(k);
    levels.push_back({{"target_S", r.target_S[k]},
                      {"mean_first_S", r.mean_S(row, 0)},
                      {"std_first_S", r.spread_S(row, 0)},
                      {"mean_last_S", r.mean_S(row, r.mean_S.cols() - 1)},
                      {"std_last_S", r.spread_S(row, r.spread_S.cols() - 1)},
                      {"exponent", r.exponent[k]}});
  }
  return levels;
}

const char* kind_name(SpectrumKind kind) {
  return kind == SpectrumKind::none ? "none" : kind == SpectrumKind::one_over_f ? "one_over_f" : "other";
}

Json noise_json(const NoiseRecord& n) {
  Json out = {{"slow_std", n.slow_std},
              {"fresh_std_per_sqrt_tau", n.fresh_std},
              {"trend", n.trend},
              {"floor", n.floor},
              {"spectrum", kind_name(n.kind)}};
  if (n.kind == SpectrumKind::none) return out;
  out["spectrum_low_Hz"] = n.frequency_Hz.front();
  out["spectrum_high_Hz"] = n.frequency_Hz.back();
  out["spectrum_slope"] = n.slope;
  out["spectrum_slope_error"] = n.slope_error;
  if (n.kind == SpectrumKind::one_over_f) out["flicker_q"] = n.q;
  return out;
}

std::string noise_text(const NoiseRecord& n, const DeviceSpec& spec, double record_s) {
  const std::string place = spec.levels == 0 ? "mid-window" : siemens(n.target_S);
  std::string out = fmt::format(
      "  {:<22} slow {:.4g} % rms over {:.3g} s, fresh {:.4g} % per sqrt(tau); lines taken off {:.3g} "
      "%\n",
      "noise at " + place, 100 * n.slow_std, record_s, 100 * n.fresh_std, n.trend < rounding ? 0 : 100 * n.trend);
  if (n.kind == SpectrumKind::none) {
    return out + fmt::format("  spectrum               no 1/f found above the floor ({:.2g} % rms)\n", 100 * n.floor);
  }
  out += fmt::format("  spectrum               slope {:.2f} +- {:.2f} from {:.3g} Hz to {:.3g} Hz: ", n.slope,
                     n.slope_error, n.frequency_Hz.front(), n.frequency_Hz.back());
  if (n.kind == SpectrumKind::one_over_f) return out + fmt::format("1/f, S = ({:.3g} g)^2/f\n", n.q);
  return out + fmt::format("not 1/f ({:.2f} in the lower, {:.2f} in the upper half of the band)\n", n.lower_slope,
                           n.upper_slope);
}

}  // namespace

void write(H5Document& file, const Characterization& c) {
  write_staircase(file, c.staircase);
  if (!c.staircase.pulse.empty()) write_figures(file, c.figures);
  write_endurance(file, c.endurance);
  const Retained& r = c.retained;
  file.group("drift", "conductance seen at times after programming");
  file.column("drift/time", r.time_s, {"s", "time since programming", {"time"}});
  file.column("drift/target", r.target_S, {"S", "programmed level", {"level"}});
  file.matrix<double>("drift/conductance_mean", r.mean_S, {"S", "mean over the devices", {"level", "time"}});
  file.matrix<double>("drift/conductance_std", r.spread_S,
                      {"S", "standard deviation over the devices", {"level", "time"}});
  file.column("drift/exponent", r.exponent, {"1", "nu of a power law over the last four decades", {"level"}});
  const NoiseRecord& n = c.noise;
  file.group("read_noise",
             "looks at devices programmed to the middle of the window, 1000 records later, straight lines off");
  file.column("read_noise/deviation", n.deviation,
              {"1", "middle of a bin: (g - line of the device)/mean, slow and fresh noise", {"bin"}});
  file.column("read_noise/share", n.share, {"1", "share of the looks in the bin", {"bin"}});
  if (n.frequency_Hz.empty()) return;  // nothing above the floor
  file.column("read_noise/frequency", n.frequency_Hz, {"Hz", "frequency", {"frequency"}});
  file.column("read_noise/spectrum", n.spectrum_Hz,
              {"1/Hz", "one-sided spectrum of the slow noise over g^2, mean of the devices", {"frequency"}});
}

std::string summary_json(const Characterization& c, const std::string& name) {
  Json out = {{"name", name}, {"model", c.spec.model}, {"devices", c.options.devices}};
  out["window"] = {{"g_min_S", c.spec.g_min_S}, {"g_max_S", c.spec.g_max_S}, {"g_reference_S", c.spec.g_reference_S()}};
  if (!c.staircase.pulse.empty()) {
    out["staircase"] = {{"half_window_pulses_up", c.staircase.half_up},
                        {"half_window_pulses_down", c.staircase.half_down},
                        {"pulses_per_point", c.staircase.pulses_per_point},
                        {"pulse", c.staircase.pulse},
                        {"mean_S", c.staircase.mean_S},
                        {"std_S", c.staircase.spread_S}};
    out["endurance"] = {{"low_S", c.endurance.low_S.back()},
                        {"low_std_S", c.endurance.low_spread_S.back()},
                        {"high_S", c.endurance.high_S.back()},
                        {"high_std_S", c.endurance.high_spread_S.back()},
                        {"pulses", c.endurance.pulses.back()}};
    out["figures"] = figures_json(c.figures);
  }
  out["drift"] = {{"first_s", c.retained.time_s.front()}, {"last_s", c.retained.time_s.back()}};
  out["drift"]["levels"] = levels_json(c.retained);
  out["read_noise"] = noise_json(c.noise);
  return json_text(out, 2) + "\n";
}

std::string summary_text(const Characterization& c, const std::string& name) {
  std::string out = fmt::format("{} [{}], {} devices\n", name, c.spec.model, c.options.devices);
  if (!c.staircase.pulse.empty()) {
    out += fmt::format("  pulses to half window  up {:.4g}, down {:.4g}\n", c.staircase.half_up, c.staircase.half_down);
    const Endurance& e = c.endurance;
    out += fmt::format("  after {} cycles        low {} +- {}, high {} +- {} ({:.4g} pulses per device)\n",
                       e.cycle.size(), siemens(e.low_S.back()), siemens(e.low_spread_S.back()),
                       siemens(e.high_S.back()), siemens(e.high_spread_S.back()), e.pulses.back());
    out += figures_text(c.figures, c.spec);
  }
  const Retained& r = c.retained;
  out += fmt::format("  {:>12} {:>12} {:>12} {:>14} {:>12} {:>10}\n", "programmed", "at 1 s", "std", "at 1e8 s", "std",
                     "exponent");
  const Index last = r.mean_S.cols() - 1;
  for (std::size_t k = 0; k < r.target_S.size(); ++k) {
    const auto row = static_cast<Index>(k);
    out += fmt::format("  {:>12} {:>12} {:>12} {:>14} {:>12} {:>10.4f}\n", siemens(r.target_S[k]),
                       siemens(r.mean_S(row, 0)), siemens(r.spread_S(row, 0)), siemens(r.mean_S(row, last)),
                       siemens(r.spread_S(row, last)), r.exponent[k]);
  }
  out += noise_text(c.noise, c.spec, c.options.samples * c.options.interval_s);
  return out;
}

}  // namespace nudge
