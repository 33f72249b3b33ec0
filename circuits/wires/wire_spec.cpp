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
    throw UserError(
        fmt::format("crossbar.{} = {:g} Ohm (must be 0 while crossbar.{} = 0 Ohm: an ideal wire has no end resistance)",
                    end, end_ohm, wire));
  };
  together("driver_resistance", driver_ohm, "row_resistance", row_ohm);
  together("sense_resistance", sense_ohm, "column_resistance", column_ohm);
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

LineSet::LineSet(const Array& load, double segment, const Ends& first, const Ends& last)
    : segment_(segment), diagonal_(load), inverse_pivot_(load.rows(), load.cols()) {
  const Index length = load.rows();
  diagonal_.row(0) += first;
  diagonal_.row(length - 1) += last;
  for (Index k = 0; k + 1 < length; ++k) {
    diagonal_.row(k) += segment;
    diagonal_.row(k + 1) += segment;
  }
  inverse_pivot_.row(0) = diagonal_.row(0).inverse();
  for (Index k = 1; k < length; ++k) {
    inverse_pivot_.row(k) = (diagonal_.row(k) - segment * segment * inverse_pivot_.row(k - 1)).inverse();
  }
}

// Thomas' algorithm for a symmetric matrix with constant off-diagonal −g: y_k = (b_k + g y_{k−1})/p_k, then
// x_k = y_k + (g/p_k) x_{k+1}.
void LineSet::solve(Array& x) const {
  const Index length = x.rows();
  x.row(0) *= inverse_pivot_.row(0);
  for (Index k = 1; k < length; ++k) x.row(k) = (x.row(k) + segment_ * x.row(k - 1)) * inverse_pivot_.row(k);
  for (Index k = length - 2; k >= 0; --k) x.row(k) += segment_ * inverse_pivot_.row(k) * x.row(k + 1);
}

void LineSet::multiply(const Array& x, Array& y) const {
  const Index length = x.rows();
  y = diagonal_ * x;
  for (Index k = 0; k + 1 < length; ++k) {
    y.row(k) -= segment_ * x.row(k + 1);
    y.row(k + 1) -= segment_ * x.row(k);
  }
}

}  // namespace nudge
