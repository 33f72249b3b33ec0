// SPDX-License-Identifier: Apache-2.0
#include "devices/current_curve.hpp"

#include <algorithm>
#include <boost/math/tools/roots.hpp>
#include <limits>

namespace nudge {
namespace {

/// Root of an increasing function between 0 and `end` (of either sign), where it changes sign; to the last two bits.
double root_to(double end, const std::function<double(double)>& f) {
  const double low = std::min(0.0, end), high = std::max(0.0, end);
  std::uintmax_t tries = 200;
  const auto at = boost::math::tools::toms748_solve(f, low, high, boost::math::tools::eps_tolerance<double>(51), tries);
  return 0.5 * (at.first + at.second);
}

}  // namespace

double SelectorSpec::selector_volts(double amps) const { return voltage_V * std::asinh(amps / current_A); }

// Of the cell's voltage V: f(v) = v + (voltage of the selector that carries i(v)) − V grows from −V at v = 0 to ≥ 0 at v = V.
double SelectorSpec::device_volts(double volts, const std::function<double(double)>& current) const {
  if (kind == SelectorKind::none || volts == 0) return volts;
  if (kind == SelectorKind::threshold && std::abs(volts) < voltage_V) return 0;
  const auto beyond = [&](double v) {
    const double amps = current(v);
    return v + (kind == SelectorKind::exponential ? selector_volts(amps) : on_ohm * amps) - volts;
  };
  if (current(volts) == 0) return volts;
  return root_to(volts, beyond);
}

double SelectorSpec::cell_current(double g, double volts) const {
  switch (kind) {
    case SelectorKind::none: return g * volts;
    case SelectorKind::threshold:
      if (std::abs(volts) < voltage_V) return 0;
      [[fallthrough]];
    case SelectorKind::transistor: return g * volts / (1 + g * on_ohm);
    case SelectorKind::exponential: return g * device_volts(volts, [g](double v) { return g * v; });
  }
  return 0;
}

double SelectorSpec::cell_slope(double g, double volts) const {
  if (kind != SelectorKind::exponential) return cell_S(g, volts);
  if (g == 0) return 0;
  // In series: 1/slope = 1/g + 1/(dI/dV of the selector), which is √(I² + I₀²)/V₀.
  const double selector = std::hypot(cell_current(g, volts), current_A) / voltage_V;
  return g * selector / (g + selector);
}

double SelectorSpec::cell_S(double g, double volts) const {
  if (kind != SelectorKind::exponential) {
    if (kind == SelectorKind::none) return g;
    return kind == SelectorKind::threshold && std::abs(volts) < voltage_V ? 0 : g / (1 + g * on_ohm);
  }
  return volts == 0 ? cell_slope(g, 0) : cell_current(g, volts) / volts;
}

double SelectorSpec::device_S(double cell, double volts) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (kind == SelectorKind::none) return cell;
  if (kind != SelectorKind::exponential) return cell * on_ohm < 1 ? cell / (1 - cell * on_ohm) : infinity;
  const double left = volts - selector_volts(cell * volts);
  return left * volts > 0 ? cell * volts / left : infinity;
}

// c(g) solves v = c V/g with v + v_s(c V) = V: dc/dg = (v/g) / (V (1/g + dv_s/dI)) = c (slope/g) / g.
double SelectorSpec::cell_sensitivity(double g, double volts) const {
  if (kind == SelectorKind::none || g == 0) return 1;
  return cell_S(g, volts) * cell_slope(g, volts) / (g * g);
}

const char* selector_name(SelectorKind kind) {
  switch (kind) {
    case SelectorKind::transistor: return "transistor";
    case SelectorKind::exponential: return "exponential";
    case SelectorKind::threshold: return "threshold";
    case SelectorKind::none: break;
  }
  return "none";
}

}  // namespace nudge
