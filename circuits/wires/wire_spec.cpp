// SPDX-License-Identifier: Apache-2.0
#include "circuits/wires/wire_spec.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {

void WireSpec::validate() const {
  const auto check = [](const char* name, double value) {
    if (!std::isfinite(value) || value < 0) {
      throw UserError(fmt::format("wires.{} = {} ohm (must be finite and >= 0)", name, value));
    }
  };
  check("row_ohm", row_ohm);
  check("column_ohm", column_ohm);
  check("driver_ohm", driver_ohm);
  check("sense_ohm", sense_ohm);
  if (row_ohm == 0 && driver_ohm > 0) throw UserError("wires.driver_ohm needs wires.row_ohm > 0");
  if (column_ohm == 0 && sense_ohm > 0) throw UserError("wires.sense_ohm needs wires.column_ohm > 0");
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
