// SPDX-License-Identifier: Apache-2.0
// Fits of sweeps as text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "devices/device_config.hpp"
#include "devices/fit/fit_iv.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

std::string iv_value(double v, Unit unit) {
  return std::isfinite(v) ? unit == Unit::none ? fmt::format("{:.4g}", v) : format_quantity(v, unit, 4) : "?";
}

std::string iv_row(const char* name, const IvNumber& n, Unit unit) {
  if (!n.known()) return fmt::format("  {:<10} not seen\n", name);
  const bool open = std::isnan(n.low) && std::isnan(n.high);
  return fmt::format("  {:<10} {} ({}) over {} lobes\n", name, iv_value(n.value, unit),
                     open ? "no interval" : iv_value(n.low, unit) + " to " + iv_value(n.high, unit), n.n);
}

/// Voltages at which something switches: of a switch that returns its threshold and hold, each apart for either sign.
std::string iv_voltages(const IvReads& r) {
  std::string out;
  for (const IvNumber& n : r.threshold_V) out += iv_row("threshold", n, Unit::volt);
  for (const IvNumber& n : r.hold_V) out += iv_row("hold", n, Unit::volt);
  if (!out.empty() && !r.set_V.known() && !r.reset_V.known()) return out;
  out += iv_row("set", r.set_V, Unit::volt);
  if (r.other_set_V.known()) out += iv_row("set", r.other_set_V, Unit::volt);
  out += iv_row("reset", r.reset_V, Unit::volt);
  if (r.other_reset_V.known()) out += iv_row("reset", r.other_reset_V, Unit::volt);
  return out;
}

std::string law_text(const IvLaw& law) {
  std::string out = fmt::format("{}: rms of ln(current) {:.3g}\n", law.spec.model, law.rms);
  for (const FittedNumber& n : law.numbers) {
    const Unit unit = n.unit == "S" ? Unit::siemens : n.unit == "V" ? Unit::volt : Unit::none;
    out += fmt::format("  {} = {}{} ({} to {})\n", n.name, iv_value(n.value, unit), n.unit == "1/s" ? " 1/s" : "",
                       n.low ? iv_value(*n.low, unit) : "?", n.high ? iv_value(*n.high, unit) : "?");
  }
  return out;
}

}  // namespace

std::string iv_text(const IvFit& fit) {
  const IvReads& r = fit.reads;
  std::string out = fmt::format("{} lobes out and back (95 % intervals)\n", r.lobes.size());
  out += iv_voltages(r);
  if (r.off_below_S > 0) {
    out += iv_row("g_on", r.on_S, Unit::siemens) +
           fmt::format("  g_off      below {}: less than the noise of the current\n  on/off     above {}\n",
                       iv_value(r.off_below_S, Unit::siemens), iv_value(r.ratio_above(), Unit::none));
  } else if (r.off_S.known()) {
    out += iv_row("g_on", r.on_S, Unit::siemens) + iv_row("g_off", r.off_S, Unit::siemens) +
           iv_row("on/off", r.ratio, Unit::none);
  } else {
    const IvLobe& first = r.lobes.front();
    out += fmt::format("  conductance {}{}: nothing switches\n", first.before_hidden ? "below " : "",
                       iv_value(first.before_S, Unit::siemens));
  }
  if (r.returned > 0) {
    out += fmt::format("  returned   by itself in {} of {} lobes that switch\n", r.returned, r.switched);
  }
  const IvNumber& c = r.curvature_per_V2;
  if (r.sinh_V() > 0) {
    const auto volts = [](double per_V2) { return 1 / std::sqrt(std::max(per_V2, 0.0)); };
    out += fmt::format("  curvature  I = G V0 sinh(V/V0), V0 = {} ({} to {})\n", iv_value(r.sinh_V(), Unit::volt),
                       iv_value(volts(c.high), Unit::volt), iv_value(volts(c.low), Unit::volt));
  } else {
    out += c.known() && c.high > 0 ? fmt::format("  curvature  none shows: V0 of sinh(V/V0) is above {}\n",
                                                 iv_value(1 / std::sqrt(c.high), Unit::volt))
                                   : "  curvature  not determined\n";
  }
  if (fit.laws.empty()) return out + fmt::format("no law fitted: {}\n", fit.why_no_law);
  out += law_text(fit.laws.front());
  if (fit.laws.size() > 1) {
    out += fmt::format("{}: Akaike's criterion {:+.1f}, rms {:.3g}\n", fit.laws[1].spec.model,
                       fit.laws[1].akaike - fit.laws[0].akaike, fit.laws[1].rms);
  }
  for (const std::string& warning : fit.warnings) out += "warning: " + warning + "\n";
  return out;
}

std::string iv_toml(const IvFit& fit, const std::string& source) {
  std::string out = fmt::format("# Sweeps of {}\n", source);
  std::istringstream text(iv_text(fit));
  for (std::string line; std::getline(text, line);) out += "# " + line + "\n";
  if (fit.laws.empty()) {
    if (fit.reads.sinh_V() > 0) out += fmt::format("[device]\niv_sinh = {:.4g}\n", fit.reads.sinh_V());
    return out;
  }
  out +=
      "# pulse_up, pulse_down: the set and reset voltages; pulse_width: 100 mean pulses across the window. Chosen, not "
      "measured.\n";
  return out + device_toml(fit.laws.front().spec);
}

}  // namespace nudge
