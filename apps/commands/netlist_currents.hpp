// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "circuits/wires/device_read.hpp"

namespace nudge {

/// The currents that an exported array (crossbar_netlist) must give, in the words of ngspice, one line per column:
///     i(vs0) = 1.839...e-04   -12.4 % off ideal wires
/// and behind it, where `printed` has what ngspice printed, its number and how far it is off, relative.
std::string currents_text(const DeviceRead& read, const std::optional<std::vector<double>>& printed);

/// The numbers of the lines "i(vs<j>) = ..." of what `ngspice -b` printed, for `columns` columns. UserError naming `file` for
/// a column that is missing, occurs twice, is not a finite number, or lies beyond the array.
std::vector<double> printed_currents(std::string_view text, Index columns, const std::string& file);

/// The largest difference of two lists of currents, over the largest current.
double worst_deviation(const DeviceRead& read, const std::vector<double>& printed);

}  // namespace nudge
