// SPDX-License-Identifier: Apache-2.0
#include "devices/memristor/memristor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Place of a number among ascending ones: the interval and the share of it that is passed.
struct Between {
  std::size_t at = 0;
  double share = 0;
};

Between between(const std::vector<double>& points, double value) {
  if (!(value > points.front())) return {0, 0};
  if (value >= points.back()) return {points.size() - 2, 1};
  const auto above = std::upper_bound(points.begin(), points.end(), value);
  const auto at = static_cast<std::size_t>(above - points.begin()) - 1;
  return {at, (value - points[at]) / (points[at + 1] - points[at])};
}

double linear(double a, double b, double share) { return a + share * (b - a); }

double along_state(const double* row, std::size_t states, double x) {
  const double place = std::clamp(x, 0.0, 1.0) * static_cast<double>(states - 1);
  const auto k = std::min(static_cast<std::size_t>(place), states - 2);
  return linear(row[k], row[k + 1], place - static_cast<double>(k));
}

/// Speed between two speeds: for speeds of one sign their logarithm is linear.
double between_speeds(double a, double b, double share) {
  if (!(a * b > 0)) return linear(a, b, share);
  return std::copysign(std::exp(linear(std::log(std::abs(a)), std::log(std::abs(b)), share)), a);
}

/// Slopes dy/dx of an increasing function at every point, of the parabola through it and its neighbours.
std::vector<double> slopes_of(const std::vector<double>& x, const std::vector<double>& y) {
  const std::size_t last = x.size() - 1;
  const auto chord = [&](std::size_t k) { return (y[k + 1] - y[k]) / (x[k + 1] - x[k]); };
  std::vector<double> out(x.size());
  for (std::size_t k = 1; k < last; ++k) {
    const double before = x[k] - x[k - 1], behind = x[k + 1] - x[k];
    out[k] = (behind * chord(k - 1) + before * chord(k)) / (before + behind);
  }
  // At the ends as if slopes went exponentially: positive, where a parabola may turn around.
  out[0] = chord(0) * chord(0) / out[1];
  out[last] = chord(last - 1) * chord(last - 1) / out[last - 1];
  return out;
}

void check_table(const StateTable& t, double read_V) {
  const std::size_t rows = t.volts.size(), columns = t.states.size();
  if (rows < 3 || columns < 3 || t.rate.size() != rows * columns || t.current_A.size() != rows * columns) {
    throw UserError("device table: needs at least 3 voltages and 3 states, with a rate and a current at each of them");
  }
  for (std::size_t i = 0; i < t.rate.size(); ++i) {
    if (std::isfinite(t.rate[i]) && std::isfinite(t.current_A[i])) continue;
    throw UserError(fmt::format(
        "device table: at {:g} V and state {:g} the rate is {:g} and the current {:g} A (must be finite numbers: other "
        "voltages or states, or the model's parameters)",
        t.volts[i / columns], t.states[i % columns], t.rate[i], t.current_A[i]));
  }
  if (!(read_V > 0) || read_V > t.volts.back()) {
    throw UserError(
        fmt::format("device table: read voltage {:g} V (must be > 0 and within the voltages, at most {:g} V)", read_V,
                    t.volts.back()));
  }
}

std::vector<double> read_conductances(const StateTable& t, double read_V) {
  const std::size_t columns = t.states.size();
  const Between read = between(t.volts, read_V);
  std::vector<double> g(columns);
  for (std::size_t k = 0; k < columns; ++k) {
    const double* row = t.current_A.data() + read.at * columns + k;
    g[k] = linear(row[0], row[columns], read.share) / read_V;
  }
  return g;
}

/// Conductances at the read voltage, and the states, in the order in which the conductances rise.
struct Rising {
  std::vector<double> g, states;
  bool turned;  ///< they fall along the states of the table
};

Rising rising(const StateTable& t, double read_V) {
  Rising out{read_conductances(t, read_V), t.states, false};
  out.turned = out.g.back() < out.g.front();
  if (out.turned) {
    std::reverse(out.g.begin(), out.g.end());
    std::reverse(out.states.begin(), out.states.end());
  }
  return out;
}

}  // namespace

std::vector<double> even_states(const StateTable& t, double read_V) {
  const auto [g, states, turned] = rising(t, read_V);
  std::vector<double> even = states;
  for (std::size_t k = 1; k + 1 < g.size(); ++k) {
    const double wanted = linear(g.front(), g.back(), static_cast<double>(k) / static_cast<double>(g.size() - 1));
    const Between here = between(g, wanted);
    even[k] = linear(states[here.at], states[here.at + 1], here.share);
  }
  if (turned) std::reverse(even.begin(), even.end());
  return even;
}

double TableMemristor::rate(double x, double v) const {
  const Between here = between(volts, v);
  const double* row = rate_Hz.data() + here.at * states;
  return between_speeds(along_state(row, states, x), along_state(row + states, states, x), here.share);
}

double TableMemristor::current(double x, double v) const {
  const Between here = between(volts, v);
  const double* row = current_A.data() + here.at * states;
  return linear(along_state(row, states, x), along_state(row + states, states, x), here.share);
}

DeviceSpec tabulated_device(const StateTable& t, double read_V, int points) {
  NUDGE_EXPECT(points >= 3);
  check_table(t, read_V);
  const std::size_t columns = t.states.size();
  const auto [g, states, turned] = rising(t, read_V);
  for (std::size_t k = 0; k + 1 < columns; ++k) {
    if (g[k + 1] > g[k]) continue;
    throw UserError(
        fmt::format("device table: conductances at {:g} V are {:g} S at state {:g} and {:g} S at {:g} (must be "
                    "monotonic: the state is read by its conductance)",
                    read_V, g[k], states[k], g[k + 1], states[k + 1]));
  }
  DeviceSpec spec;
  spec.model = "memristor_table";
  spec.g_min_S = g.front();
  spec.g_max_S = g.back();
  const std::vector<double> slopes = slopes_of(states, g);
  std::vector<double> rates, currents;
  for (std::size_t row = 0; row < t.volts.size(); ++row) {
    const auto at = [&](const std::vector<double>& values, std::size_t k) {
      return values[row * columns + (turned ? columns - 1 - k : k)];
    };
    for (int k = 0; k < points; ++k) {
      const Between here = between(g, spec.g_min_S + spec.window_S() * k / (points - 1));
      // du/dt = dg/dstate dstate/dt over the window
      rates.push_back(
          linear(slopes[here.at] * at(t.rate, here.at), slopes[here.at + 1] * at(t.rate, here.at + 1), here.share) /
          spec.window_S());
      currents.push_back(linear(at(t.current_A, here.at), at(t.current_A, here.at + 1), here.share));
    }
  }
  spec.tables = {{"volts", t.volts}, {"rate", std::move(rates)}, {"current", std::move(currents)}};
  return spec;
}

}  // namespace nudge
