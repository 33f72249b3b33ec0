// SPDX-License-Identifier: Apache-2.0
// What a fit of several devices prints.
#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "devices/fit/fit_pulses.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

std::string estimate_row(const char* name, const DeviceEstimate& e, Unit unit) {
  const auto text = [&](const std::optional<double>& v) {
    if (!v) return std::string("?");
    return unit == Unit::none ? fmt::format("{:.4g}", *v) : format_quantity(*v, unit, 4);
  };
  const auto ends = [&](const std::optional<double>& low, const std::optional<double>& high) {
    return low || high ? fmt::format(" [{}, {}]", text(low), text(high)) : std::string();
  };
  std::string out = fmt::format("  {:<12} {}{}", name, text(e.mean), ends(e.mean_low, e.mean_high));
  if (e.n > 1) {
    out += fmt::format(", devices differ by {}{}", text(e.deviation), ends(e.deviation_low, e.deviation_high));
  }
  return out + "\n";
}

}  // namespace

std::string population_text(const PopulationFit& fit) {
  std::string out = fmt::format("{} devices, {} records; 95 % intervals\n", fit.devices, fit.records);
  out += estimate_row("g_min", fit.g_min_S, Unit::siemens) + estimate_row("g_max", fit.g_max_S, Unit::siemens) +
         estimate_row("pulse", fit.step_S, Unit::siemens) + estimate_row("asymmetry", fit.asymmetry, Unit::none);
  if (std::isfinite(fit.repeat)) {
    out += fmt::format("  the same pulses again reach the same conductance within {:.3g} % of the window (rms)\n",
                       100 * fit.repeat);
  }
  return out;
}

std::string fit_toml(const PopulationFit& fit, const std::string& source) {
  std::istringstream rows(population_text(fit));
  std::string out;
  for (std::string row; std::getline(rows, row);) out += "# " + row + "\n";
  return out + fit_toml(fit.common, source);
}

}  // namespace nudge
