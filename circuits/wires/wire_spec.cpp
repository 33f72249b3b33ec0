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
}

namespace {

/// Heat of the cheapest flow on one wire of `devices` that carries the current of each of them, ohm times amperes squared:
/// P_j amperes leave before segment j = 0 ... n, whose resistance is w_j; the first segment carries x amperes, segment j
/// x − P_j. Connected at one end x = P_n (no last segment); at both ends x = Σ w P/Σ w is the one with the least heat.
double wire_heat(ConstMatrixRef<double> devices, double cell_ohm, double end_ohm, LineEnds ends) {
  const Index n = devices.size();
  if (cell_ohm == 0 && end_ohm == 0) return 0;
  Eigen::ArrayXd left(n + 1);
  left[0] = 0;
  for (Index j = 0; j < n; ++j) left[j + 1] = left[j] + devices(0, j);
  Eigen::ArrayXd ohm = Eigen::ArrayXd::Constant(n + 1, cell_ohm);
  ohm[0] += end_ohm;
  ohm[n] = ends == LineEnds::both ? cell_ohm + end_ohm : 0;
  const double x = ends == LineEnds::both ? (ohm * left).sum() / ohm.sum() : left[n];
  return (ohm * (x - left).square()).sum();
}

}  // namespace

double ir_drop_figure(const WireSpec& spec, const Matrix<double>& conductance_S) {
  if (conductance_S.size() == 0) return 0;
  const double total = conductance_S.sum();
  if (!(total > 0)) return 0;
  double heat = 0;
  for (Index i = 0; i < conductance_S.rows(); ++i) {
    heat += wire_heat(conductance_S.row(i), spec.row_ohm, spec.driver_ohm, spec.rows_driven);
  }
  // Sensed at the far end: the wire seen from there.
  for (Index j = 0; j < conductance_S.cols(); ++j) {
    const Matrix<double> column = conductance_S.col(j).reverse().transpose();
    heat += wire_heat(column, spec.column_ohm, spec.sense_ohm, spec.columns_sensed);
  }
  return heat / total;
}

LineSet::LineSet(const Array& load, double segment_ohm, const Ends& first, const Ends& last)
    : segment_ohm_(segment_ohm), passed_(load.rows(), load.cols()) {
  const Index end = load.rows() - 1;
  Ends seen = load.row(0) + first;  // e_k
  for (Index k = 0; k < end; ++k) {
    passed_.row(k) = (1 + segment_ohm * seen).inverse();
    seen = load.row(k + 1) + seen * passed_.row(k);
  }
  passed_.row(end) = (seen + last).inverse();
}

// Thomas' algorithm with the current c_k = (b_k + c_{k−1})/(1 + R e_k) that node k passes on in place of a voltage; then
// x_k = R c_k + x_{k+1}/(1 + R e_k).
void LineSet::solve(Array& x) const {
  const Index end = x.rows() - 1;
  x.row(0) *= passed_.row(0);
  for (Index k = 1; k <= end; ++k) x.row(k) = (x.row(k) + x.row(k - 1)) * passed_.row(k);
  for (Index k = end - 1; k >= 0; --k) x.row(k) = segment_ohm_ * x.row(k) + passed_.row(k) * x.row(k + 1);
}

}  // namespace nudge
