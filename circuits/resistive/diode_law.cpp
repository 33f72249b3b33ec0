// SPDX-License-Identifier: Apache-2.0
#include "circuits/resistive/diode_law.hpp"

#include <fmt/format.h>

#include <cmath>

#include "circuits/circuit_spec.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

double DiodeLaw::current(double v, double sign) const { return sign * saturation * std::expm1(-sign * v / thermal); }

double DiodeLaw::slope(double v, double sign) const { return saturation / thermal * std::exp(-sign * v / thermal); }

double DiodeLaw::energy(double v, double sign) const {
  const double x = sign * v / thermal;
  return thermal * saturation * (std::exp(-x) + x);
}

double wright_omega(double x) {
  if (x < -40) return std::exp(x);  // ω = e^x (1 − e^x + …): e^−40 is below half a rounding
  // First: e^x, the exponential through ω(1) = 1 with its slope of ½, or x − ln x; each within 40 % where it stands.
  double w = x < -1 ? std::exp(x) : std::exp(0.5 * (x - 1));
  if (x > 3) w = x - std::log(x);
  // Each round has order four: three leave rounding.
  for (int n = 0; n < 3; ++n) {
    const double left = x - w - std::log(w);
    const double next = 1 + w;
    const double bend = 2 * next * (next + 2.0 / 3.0 * left);
    w *= 1 + left / next * (bend - left) / (bend - 2 * left);
  }
  return w;
}

double DiodeLaw::settle(double w, double load, double sign) const {
  const double c = sign * w - saturation / load;
  const double share = saturation / (load * thermal);
  const double omega = wright_omega(std::log(share) - c / thermal);
  // Of ω = ln … the same v twice: the sum cancels where the diode conducts, the logarithm has no digits where it does not.
  return sign * (omega > 1 ? -thermal * std::log(omega / share) : c + thermal * omega);
}

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
