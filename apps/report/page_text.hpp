// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nudge::report {

/// Makes text safe inside HTML, SVG and quoted attributes; control characters, which XML forbids, become spaces.
std::string escape(std::string_view text);

/// Formats a number with four significant digits: 2.188, 1.2·10⁻⁵; "not finite" for NaN and infinities.
std::string number(double value);

/// Formats mean ± deviation, both to the second significant digit of the deviation: "0.0422 ± 0.0014", "(7.708 ±
/// 0.041)·10⁶". Gives the mean alone where the deviation is 0.
std::string with_deviation(double mean, double deviation);

/// Formats a power of ten with superscripts: 10⁻³; 0.1, 1, 10 and 100 in full.
std::string power_of_ten(int exponent);

/// Text of a unit behind a number, " nat", or behind a name, " (nat)"; empty for pure numbers ("1" or none).
std::string unit_behind(const std::string& unit);
std::string unit_in_brackets(const std::string& unit);

/// Makes the first letter a capital.
std::string capitalised(std::string text);

/// Makes the HTML of figures side by side; empty without any.
std::string grid(const std::string& figures);

/// Formats a count: "1 step", "3 steps".
std::string count(std::size_t n, std::string_view singular);

/// Value in a table where nothing was measured.
inline constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

/// Mean, smallest and largest of the finite ones of some values; NaN where there is none.
struct FiniteRange {
  double mean = no_value, low = no_value, high = no_value;
};
FiniteRange finite_range(std::span<const double> values);

/// Returns the place of a name in a list, and appends a new name.
std::size_t place(std::vector<std::string>& names, const std::string& name);

/// Turns the name of a config key or dataset into words: "final_loss" -> "final loss".
std::string words(std::string_view name);

}  // namespace nudge::report
