// SPDX-License-Identifier: Apache-2.0
#include "devices/window_rule.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/units.hpp"

namespace nudge {
namespace {

constexpr double deviations = 4;

double k_of(const DeviceSpec& spec) { return deviations * lower_bound_scatter(spec); }

}  // namespace

double lower_bound_scatter(const DeviceSpec& spec) {
  const auto reference_error = spec.shape.find("symmetry_spread");
  return std::hypot(spec.lower_bound_spread * spec.reference, spec.programming.write_noise / spec.pulses,
                    reference_error == spec.shape.end() ? 0.0 : reference_error->second);
}

double least_g_min_S(const DeviceSpec& spec) {
  const double k = k_of(spec);
  return spec.g_max_S * k / (1 + k);
}

double cut_share(const DeviceSpec& spec) {
  const double sigma_S = lower_bound_scatter(spec) * spec.window_S();
  if (sigma_S == 0) return 0;
  return 0.5 * std::erfc(spec.g_min_S / (sigma_S * std::sqrt(2.0)));
}

std::string cut_warning(const DeviceSpec& spec) {
  // Relative 1e-6: a g_min that has been printed with seven digits is the one of the rule.
  if (spec.g_min_S >= (1 - 1e-6) * least_g_min_S(spec)) return "";
  return fmt::format(
      "device.g_min = {} cuts the spread of the lower bounds at 0 S in {:.2g} % of the devices: their bounds are not "
      "those "
      "that device.lower_bound_spread and device.write_noise state; device.g_min >= {} (with this g_max) keeps 4 "
      "standard "
      "deviations",
      format_quantity(spec.g_min_S, Unit::siemens, 4), 100 * cut_share(spec),
      format_quantity(least_g_min_S(spec), Unit::siemens, 4));
}

}  // namespace nudge
