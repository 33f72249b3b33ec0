// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nudge {

/// The physical unit of a quantity; `none` is a pure number (also written as a percentage).
enum class Unit { none, siemens, ohm, volt, ampere, farad, second, hertz, joule, watt, kelvin, metre };

/// Temperature 0 °C in kelvins.
inline constexpr double zero_celsius_K = 273.15;

/// Symbol of a unit: "S", "Ohm", "V", "A", "F", "s", "Hz", "J", "W", "K", "m"; "1" for a pure number.
std::string_view unit_symbol(Unit unit);

/// Number in SI units, or the reason why a text is none.
struct Quantity {
  double value = 0;
  std::string problem;  ///< empty when the text was understood; else the mistake, the expected unit, and an example
};

/// Reads "25 uS", "100ns", "1e-3 V", "5 %" or a bare number, which is in SI units. Prefixes are f p n u µ m k M G. Ohm
/// is written Ohm, ohm or Ω. A temperature may be in degrees Celsius, "85 C", "85 degC" or "85 °C", a time in min, h or
/// d. A prefix shifts the decimal exponent before the one rounding to double: "25 uS" is exactly 25e-6.
Quantity read_quantity(std::string_view text, Unit unit);

/// Reads a quantity as read_quantity() does; throws UserError with the text and the problem.
double parse_quantity(std::string_view text, Unit unit);

/// Writes "25 uS". digits = 0: the shortest text that read_quantity turns back into the same double; else that many
/// significant digits, for people.
std::string format_quantity(double value, Unit unit, int digits = 0);

}  // namespace nudge
