// SPDX-License-Identifier: Apache-2.0
#include "netlist/netlist.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace nudge {
namespace {

/// Name of each kind, and its numbers that have no default.
struct Form {
  const char* name;
  std::vector<const char*> needs;  ///< names by place; "": has a default
};

const Form& form_of(Waveform::Kind kind) {
  static const std::array<Form, 5> forms = {Form{"", {}}, Form{"PULSE", {"V1", "V2", "", "TR", "TF", "PW"}},
                                            Form{"SIN", {"VO", "VA", "FREQ"}},
                                            Form{"EXP", {"V1", "V2", "TD1", "TAU1", "TD2", "TAU2"}}, Form{"PWL", {}}};
  return forms[static_cast<std::size_t>(kind)];
}

/// Rise from 0 at t = 0 towards 1; 0 before. rise_slope() is its slope.
double rise(double t, double tau) { return t > 0 ? -std::expm1(-t / tau) : 0; }
double rise_slope(double t, double tau) { return t > 0 ? std::exp(-t / tau) / tau : 0; }

}  // namespace

std::string Waveform::missing() const {
  const std::vector<const char*>& needs = form_of(kind).needs;
  std::string out;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    const bool above = i >= 2 && *needs[i] != '\0' && std::string(needs[i]) != "TD1" && std::string(needs[i]) != "TD2";
    if (*needs[i] == '\0' || (i < numbers.size() && (!above || numbers[i] > 0))) continue;
    out += (out.empty() ? "" : ", ") + std::string(needs[i]);
  }
  return out;
}

/// Line of a PULSE or PWL that t lies on, from the line's left end on.
Waveform::Line Waveform::line_at(double t) const {
  if (kind == Kind::lines) {
    std::size_t k = 0;
    while (k + 2 < numbers.size() && numbers[k + 2] <= t) k += 2;
    if (t < numbers[0] || k + 2 >= numbers.size()) return {t, t < numbers[0] ? numbers[1] : numbers[k + 1], 0};
    return {numbers[k], numbers[k + 1], (numbers[k + 3] - numbers[k + 1]) / (numbers[k + 2] - numbers[k])};
  }
  const double low = number(0), high = number(1), up = number(3), down = number(4), width = number(5),
               period = number(6);
  double s = t - number(2);
  if (s < 0) return {t, low, 0};
  const double start = period > 0 ? number(2) + period * std::floor(s / period) : number(2);
  s = t - start;
  if (s < up) return {start, low, (high - low) / up};
  if (s < up + width) return {start + up, high, 0};
  if (s < up + width + down) return {start + up + width, high, (low - high) / down};
  return {start + up + width + down, low, 0};
}

double Waveform::at(double t) const {
  if (kind == Kind::sine) {
    const double s = std::max(t - number(3), 0.0);
    const double phase = 2 * std::numbers::pi * number(2) * s + number(5) * std::numbers::pi / 180;
    return number(0) + number(1) * std::sin(phase) * std::exp(-number(4) * s);
  }
  if (kind == Kind::exponential) {
    const double way = number(1) - number(0);
    return number(0) + way * (rise(t - number(2), number(3)) - rise(t - number(4), number(5)));
  }
  const Line line = line_at(t);
  return line.value + line.slope * (t - line.begin);
}

double Waveform::slope(double t) const {
  if (kind == Kind::sine) {
    const double s = t - number(3), w = 2 * std::numbers::pi * number(2);
    if (s < 0) return 0;
    const double phase = w * s + number(5) * std::numbers::pi / 180;
    return number(1) * std::exp(-number(4) * s) * (w * std::cos(phase) - number(4) * std::sin(phase));
  }
  if (kind == Kind::exponential) {
    const double way = number(1) - number(0);
    return way * (rise_slope(t - number(2), number(3)) - rise_slope(t - number(4), number(5)));
  }
  return line_at(t).slope;
}

bool Waveform::breaks(double stop, std::size_t most, std::vector<double>& times) const {
  const auto add = [&](double t) {
    if (t > 0 && t < stop) times.push_back(t);
    return times.size() <= most;
  };
  switch (kind) {
    case Kind::none: return true;
    case Kind::sine: return add(number(3));
    case Kind::exponential: return add(number(2)) && add(number(4));
    case Kind::lines:
      for (std::size_t k = 0; k < numbers.size(); k += 2) {
        if (!add(numbers[k])) return false;
      }
      return true;
    case Kind::pulse: break;
  }
  const double period = number(6);
  double first = number(2);
  if (first < 0 && period > 0) first += period * std::floor(-first / period);
  for (double start = first; start < stop; start += period) {
    for (const double t : {0.0, number(3), number(3) + number(5), number(3) + number(5) + number(4)}) {
      if (!add(start + t)) return false;
    }
    if (!(period > 0)) break;
  }
  return true;
}

std::string Waveform::text() const { return fmt::format("{}({})", form_of(kind).name, fmt::join(numbers, " ")); }

}  // namespace nudge
