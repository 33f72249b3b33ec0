// SPDX-License-Identifier: Apache-2.0
#include "circuits/resistive/shockley_diode.hpp"

#include <fmt/format.h>

#include <cmath>

#include "circuits/circuit_spec.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

double ShockleyDiode::thermal_V() const { return emission * boltzmann_J_per_K * temperature_K / electron_charge_C; }

void ShockleyDiode::validate() const {
  const auto check = [](double value, const char* name) {
    if (value > 0 && std::isfinite(value)) return;
    throw UserError(fmt::format("diode: {} = {:g} (must be positive and finite)", name, value));
  };
  check(saturation_A, "saturation current");
  check(emission, "emission coefficient");
  check(temperature_K, "temperature");
}

}  // namespace nudge
