// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/spread_text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace nudge {

std::string spread_text(const CellSpread& cell, const char* digits, const char* deviation) {
  const auto number = [](const char* form, double value) { return fmt::format(fmt::runtime(form), value); };
  std::string mean = std::isfinite(cell.mean) ? number(digits, cell.mean) : "-";
  if (std::isfinite(cell.mean) && cell.runs > 1) mean += " ± " + number(deviation, cell.deviation);
  return cell_text(cell, mean, number(digits, cell.median));
}

}  // namespace nudge
