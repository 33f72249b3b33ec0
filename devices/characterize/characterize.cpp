// SPDX-License-Identifier: Apache-2.0
#include "devices/characterize/characterize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "devices/device_array.hpp"
#include "devices/registry.hpp"
#include "sim/base/errors.hpp"

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

/// Pulses from point `begin` of the mean curve g until it has passed `middle`, linearly between points; 0 if it does not by point `end`.
double pulses_to(double middle, const std::vector<double>& g, std::size_t begin, std::size_t end,
                 double pulses_per_point) {
  for (std::size_t i = begin + 1; i <= end; ++i) {
    if ((g[i] - middle) * (g[begin] - middle) > 0) continue;
    const double part = g[i] == g[i - 1] ? 0 : (middle - g[i - 1]) / (g[i] - g[i - 1]);
    return pulses_per_point * (static_cast<double>(i - 1 - begin) + part);
  }
  return 0;
}

Staircase staircase(const Characterization& c) {
  Staircase s;
  // One and a half windows of mean pulses each way, so that saturation shows; whole pulses per point.
  const double total = std::ceil(1.5 * c.spec.pulses);
  s.pulses_per_point = std::ceil(total / c.options.points);
  const int points = static_cast<int>(std::ceil(total / s.pulses_per_point));
  Array array = make(c, 0);
  // Far below: every device is written to its lower bound.
  array.program(Matrix<double>::Constant(1, c.options.devices, -100 * c.spec.window_S()), 0);
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
  const auto turn = static_cast<std::size_t>(points);
  const double middle = 0.5 * (s.mean_S[0] + s.mean_S[turn]);
  s.half_up = pulses_to(middle, s.mean_S, 0, turn, s.pulses_per_point);
  s.half_down = pulses_to(middle, s.mean_S, turn, 2 * turn, s.pulses_per_point);
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

Retained retained(const Characterization& c) {
  Retained r;
  for (int decade = 0; decade <= 8; ++decade) r.time_s.push_back(std::pow(10.0, decade));
  const auto times = static_cast<Index>(r.time_s.size());
  r.mean_S.resize(5, times);
  r.spread_S.resize(5, times);
  for (Index level = 0; level < 5; ++level) {
    r.target_S.push_back(c.spec.g_min_S + c.spec.window_S() * (0.1 + 0.2 * static_cast<double>(level)));
    Array array = make(c, 2 + static_cast<std::uint32_t>(level));
    array.program(Matrix<double>::Constant(1, c.options.devices, r.target_S.back()), 0);
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
  Characterization c{spec, options, {}, {}, {}, {}};
  if (device_model(spec.model).make(spec)->bounded()) {
    c.staircase = staircase(c);
    c.endurance = endurance(c);
  }
  c.retained = retained(c);
  c.noise = noise_record(c.spec, c.options);
  return c;
}

}  // namespace nudge
