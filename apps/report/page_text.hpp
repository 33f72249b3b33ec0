// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace nudge::report {

/// Text safe inside HTML, SVG and quoted attributes; control characters, which XML forbids, become spaces.
std::string escape(std::string_view text);

/// Four significant digits: 2.188, 1.2·10⁻⁵; "not finite" for NaN and infinities.
std::string number(double value);

/// Mean ± deviation, both to the second significant digit of the deviation: "0.0422 ± 0.0014", "(7.708 ± 0.041)·10⁶"; the mean alone
/// where the deviation is 0.
std::string with_deviation(double mean, double deviation);

/// A power of ten with superscripts: 10⁻³; 0.1, 1, 10 and 100 in full.
std::string power_of_ten(int exponent);

/// "1 step", "3 steps".
std::string count(std::size_t n, std::string_view singular);

/// What a table has where nothing was measured.
inline constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

/// The place of a name in a list, which takes it at its end where it is new.
std::size_t place(std::vector<std::string>& names, const std::string& name);

/// Name of a config key or dataset as words: "final_loss" -> "final loss".
std::string words(std::string_view name);

}  // namespace nudge::report
