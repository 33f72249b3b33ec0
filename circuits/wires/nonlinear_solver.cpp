// SPDX-License-Identifier: Apache-2.0
#include "circuits/wires/solvers.hpp"

#include <fmt/format.h>

namespace nudge {
namespace {

double greatest(const LineSet::Ends& ends) { return ends.size() > 0 ? ends.maxCoeff() : 0; }

}  // namespace

NonlinearSolver::NonlinearSolver(Matrix<double> g, const CurrentCurve& curve, const WireSpec& wires)
    : NonlinearSolver(std::move(g), CellLaw{curve, {}}, wires) {}

NonlinearSolver::NonlinearSolver(Matrix<double> g, const CellLaw& law, const WireSpec& wires, const OpenLines& open)
    : conductance_(std::move(g)), law_(law), wires_(wires), open_(open) {
  const LineSolver checks_input(conductance_, wires_, DeviceSign::positive, open_);
  for (const double value : {law.curve.sinh_V, law.curve.cubic_per_V2}) {
    if (!std::isfinite(value) || value < 0) {
      throw UserError(
          fmt::format("current curve: sinh_V = {} V, cubic_per_V2 = {} 1/V^2 (both must be finite and >= 0, so that "
                      "the current grows with the voltage)",
                      law.curve.sinh_V, law.curve.cubic_per_V2));
    }
  }
  const Index rows = conductance_.rows(), columns = conductance_.cols();
  if (wires_.row_ohm > 0) {
    driver_ = line_ends(rows, 1.0 / (wires_.row_ohm + wires_.driver_ohm), open_.rows);
    const LineSet::Ends far = wires_.rows_driven == LineEnds::both ? driver_ : LineSet::Ends::Zero(rows);
    row_wires_ = std::make_unique<LineSet>(Array::Zero(columns, rows), 1.0 / wires_.row_ohm, driver_, far);
  }
  if (wires_.column_ohm > 0) {
    sense_ = line_ends(columns, 1.0 / (wires_.column_ohm + wires_.sense_ohm), open_.columns);
    const LineSet::Ends far = wires_.columns_sensed == LineEnds::both ? sense_ : LineSet::Ends::Zero(columns);
    column_wires_ = std::make_unique<LineSet>(Array::Zero(rows, columns), 1.0 / wires_.column_ohm, far, sense_);
  }
}

NonlinearSolver::Array NonlinearSolver::currents_of(const Array& across) const {
  return conductance_.array().binaryExpr(across, [this](double g, double v) { return law_.current(g, v); });
}

NonlinearSolver::Imbalance NonlinearSolver::imbalance(const State& at, const Matrix<double>& volts) const {
  const Array across = at.rows.transpose() - at.columns;
  const Array device = currents_of(across);
  Imbalance out{Array::Zero(at.rows.rows(), at.rows.cols()), Array::Zero(at.columns.rows(), at.columns.cols())};
  if (row_wires_ != nullptr) {
    row_wires_->multiply(at.rows, out.rows);
    out.rows = -out.rows - device.transpose();
    out.rows.row(0) += driver_ * volts.row(0).array();
    if (wires_.rows_driven == LineEnds::both) out.rows.row(out.rows.rows() - 1) += driver_ * volts.row(0).array();
  }
  if (column_wires_ != nullptr) {
    column_wires_->multiply(at.columns, out.columns);
    out.columns = device - out.columns;
  }
  out.size = std::sqrt(out.rows.square().sum() + out.columns.square().sum());
  return out;
}

Matrix<double> NonlinearSolver::currents(const State& at) const {
  if (column_wires_ == nullptr) {
    const Array v = at.rows.transpose() - at.columns;
    return currents_of(v).colwise().sum().matrix();
  }
  Array sum = sense_ * at.columns.row(at.columns.rows() - 1);
  if (wires_.columns_sensed == LineEnds::both) sum += sense_ * at.columns.row(0);
  return sum.matrix();
}

NonlinearSolution NonlinearSolver::solve(const Matrix<double>& volts, double tolerance, int max_steps) const {
  NUDGE_EXPECT(volts.rows() == 1 && volts.cols() == conductance_.rows());
  constexpr double inner = 1e-13;  // of each linear solve: below it the order of convergence would show the inner error
  constexpr int halvings = 40;
  // Rounding of the node equations: a current balance cannot be better than some ulps of the largest term in it.
  const double largest = volts.cwiseAbs().maxCoeff();
  const double floor = 1e-13 * std::max(greatest(driver_), greatest(sense_)) * largest *
                       std::sqrt(static_cast<double>(conductance_.size()));
  NonlinearSolution out;
  State at{Array::Zero(conductance_.cols(), conductance_.rows()),
           Array::Zero(conductance_.rows(), conductance_.cols())};
  if (row_wires_ == nullptr) at.rows.rowwise() += volts.row(0).array();  // ideal wires follow their drivers
  Imbalance now = imbalance(at, volts);
  if (largest == 0 || (row_wires_ == nullptr && column_wires_ == nullptr)) out.status = Status::converged;
  while (out.status == Status::max_steps && static_cast<int>(out.steps.size()) < max_steps) {
    const Array across = at.rows.transpose() - at.columns;
    const Array slopes =
        conductance_.array().binaryExpr(across, [this](double g, double v) { return law_.slope(g, v); });
    if (!slopes.allFinite() || !std::isfinite(now.size)) {
      out.status = Status::diverged;
      break;
    }
    const auto step =
        LineSolver(slopes.matrix(), wires_, DeviceSign::positive, open_).solve_nodes(now.rows, now.columns, inner);
    double share = 1;
    State next;
    Imbalance there;
    int tries = 0;
    do {
      next = {at.rows + share * step.rows, at.columns + share * step.columns};
      there = imbalance(next, volts);
      share /= 2;
    } while (!(there.size < now.size || there.size <= floor) && ++tries < halvings);
    if (tries == halvings) {
      out.status = Status::stalled;
      break;
    }
    const double moved = 2 * share * std::max(step.rows.abs().maxCoeff(), step.columns.abs().maxCoeff()) / largest;
    at = std::move(next);
    now = std::move(there);
    out.steps.push_back(moved);
    if (moved <= tolerance) out.status = Status::converged;
  }
  out.currents_A = currents(at);
  out.across_V = (at.rows.transpose() - at.columns).matrix();
  return out;
}

}  // namespace nudge
