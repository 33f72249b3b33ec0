// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "training/sweep/spread.hpp"

namespace nudge {

/// "2.414 ± 0.012" of a cell whose runs all ended well, "2.414" of a single one; else cell_text(). A dash where nothing was measured.
/// `digits`: the format of a number, `deviation` that of the deviation.
std::string spread_text(const CellSpread& cell, const char* digits = "{:.4g}", const char* deviation = "{:.2g}");

}  // namespace nudge
