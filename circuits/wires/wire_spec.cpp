// SPDX-License-Identifier: Apache-2.0
#include "circuits/wires/wire_spec.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {

void WireSpec::validate() const {
  const auto check = [](const char* name, double value) {
    if (!std::isfinite(value) || value < 0) {
      throw UserError(fmt::format("crossbar.{} = {} ohm (must be finite and >= 0)", name, value));
    }
  };
  check("row_resistance", row_ohm);
  check("column_resistance", column_ohm);
  check("driver_resistance", driver_ohm);
  check("sense_resistance", sense_ohm);
  const auto together = [](const char* end, double end_ohm, const char* wire, double wire_ohm) {
    if (end_ohm == 0 || wire_ohm > 0) return;
    throw UserError(fmt::format(
        "crossbar.{} = {:g} Ohm (must be 0 while crossbar.{} = 0 Ohm: an ideal wire has no end)", end, end_ohm, wire));
  };
  together("driver_resistance", driver_ohm, "row_resistance", row_ohm);
  together("sense_resistance", sense_ohm, "column_resistance", column_ohm);
}

double ir_drop_figure(const WireSpec& spec, const Matrix<double>& conductance_S) {
  if (conductance_S.size() == 0) return 0;
  const double per_cell = 0.5 * (spec.row_ohm + spec.column_ohm);
  return 2.0 / 3.0 * per_cell * conductance_S.mean() * static_cast<double>(conductance_S.size());
}

std::string ir_drop_warning(const WireSpec& spec, const Matrix<double>& conductance_S) {
  const double figure = ir_drop_figure(spec, conductance_S);
  if (figure <= 0.5) return "";
  return fmt::format(
      "wire resistance: (2/3) R G N M = {:.2g} for {} x {} devices, about {:.0f} % of the signal is lost; use "
      "smaller tiles, lower conductances, wider wires, or drive both ends",
      figure, conductance_S.rows(), conductance_S.cols(), 100 * figure / (1 + figure));
}

}  // namespace nudge
