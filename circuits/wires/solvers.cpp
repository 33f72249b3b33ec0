// SPDX-License-Identifier: Apache-2.0
#include "circuits/wires/solvers.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cmath>

#include "circuits/wires/tiled_array.hpp"
#include "sim/base/parallel.hpp"

namespace nudge {
namespace {

void check_conductance(const Matrix<double>& g, DeviceSign sign) {
  if (g.size() == 0) throw UserError("crossbar: no devices (rows and columns must be >= 1)");
  for (Index i = 0; i < g.rows(); ++i) {
    for (Index j = 0; j < g.cols(); ++j) {
      if (!std::isfinite(g(i, j)) || (g(i, j) < 0 && sign == DeviceSign::positive)) {
        throw UserError(
            fmt::format("crossbar: conductance of device ({}, {}) = {} S (must be finite and >= 0)", i, j, g(i, j)));
      }
    }
  }
}

/// Conductances of the terminals of `count` lines: g, or 0 at open ones.
LineSet::Ends line_ends(Index count, double g, const std::vector<bool>& open) {
  LineSet::Ends ends = LineSet::Ends::Constant(count, g);
  NUDGE_EXPECT(open.empty() || static_cast<Index>(open.size()) == count);
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (open[i]) ends(static_cast<Index>(i)) = 0;
  }
  return ends;
}

}  // namespace

LineSolver::LineSolver(const Matrix<double>& conductance_S, const WireSpec& spec, DeviceSign sign,
                       const OpenLines& open)
    : spec_(spec) {
  spec.validate();
  check_conductance(conductance_S, sign);
  if (open.any() && (spec.rows_ideal() || spec.columns_ideal())) {
    throw UserError(
        "crossbar: floating lines need rows and columns with resistance. Set crossbar.row_resistance or "
        "driver_resistance, and crossbar.column_resistance or sense_resistance, above 0");
  }
  conductance_ = conductance_S.array();
  transposed_ = conductance_S.transpose().array();
  add_wires(open);
}

void LineSolver::add_wires(const OpenLines& open) {
  const auto far = [](LineEnds ends, const LineSet::Ends& near) -> LineSet::Ends {
    return ends == LineEnds::both ? near : LineSet::Ends::Zero(near.size());
  };
  if (!spec_.rows_ideal()) {
    driver_ = line_ends(conductance_.rows(), 1.0 / (spec_.row_ohm + spec_.driver_ohm), open.rows);
    rows_ = std::make_unique<LineSet>(transposed_, spec_.row_ohm, driver_, far(spec_.rows_driven, driver_));
  }
  if (!spec_.columns_ideal()) {
    sense_ = line_ends(conductance_.cols(), 1.0 / (spec_.column_ohm + spec_.sense_ohm), open.columns);
    columns_ = std::make_unique<LineSet>(conductance_, spec_.column_ohm, far(spec_.columns_sensed, sense_), sense_);
  }
}

LineSolver::Array LineSolver::driven(const Matrix<double>& volts) const {
  if (rows_ == nullptr) return {};
  Array into = Array::Zero(transposed_.rows(), transposed_.cols());
  into.row(0) += driver_ * volts.row(0).array();
  if (spec_.rows_driven == LineEnds::both) into.row(into.rows() - 1) += driver_ * volts.row(0).array();
  return into;
}

LineSolver::Array LineSolver::driven_columns(const Matrix<double>& volts) const {
  Array into = Array::Zero(conductance_.rows(), conductance_.cols());
  into.row(into.rows() - 1) += sense_ * volts.row(0).array();
  if (spec_.columns_sensed == LineEnds::both) into.row(0) += sense_ * volts.row(0).array();
  return into;
}

/// Computes G A⁻¹ (G∘U + b) in the layout of the columns; `driven` is b in the layout of the rows (M, N), or null for b = 0.
LineSolver::Array LineSolver::eliminate_rows(const Array& u, const Array* driven) const {
  Array v = (conductance_ * u).transpose();
  if (driven != nullptr) v += *driven;
  rows_->solve(v);
  return conductance_ * v.transpose();
}

/// Solution with ideal column wires, U = 0: every row stands alone.
WireSolution LineSolver::ideal_columns(const Matrix<double>& volts) const {
  WireSolution out;
  Array v;
  if (rows_ == nullptr) {
    v = Array::Zero(transposed_.rows(), transposed_.cols());
    v.rowwise() += volts.row(0).array();
  } else {
    v = driven(volts);
    rows_->solve(v);
  }
  out.currents_A = (transposed_ * v).rowwise().sum().matrix().transpose();
  return out;
}

WireSolution LineSolver::solve(const Matrix<double>& volts, double tolerance, int max_iterations) const {
  NUDGE_EXPECT(volts.rows() == 1 && volts.cols() == conductance_.rows());
  if (columns_ == nullptr) return ideal_columns(volts);
  WireSolution out;
  Array b;
  if (rows_ == nullptr) {
    b = conductance_.colwise() * volts.row(0).transpose().array();
  } else {
    const Array pushed = driven(volts);
    b = eliminate_rows(Array::Zero(conductance_.rows(), conductance_.cols()), &pushed);
  }
  const Array u = reduced_solve(b, tolerance, max_iterations, out);
  out.currents_A = sensed(u);
  return out;
}

Matrix<double> LineSolver::sensed(const Array& columns) const {
  Array sum = sense_ * columns.row(columns.rows() - 1);
  if (spec_.columns_sensed == LineEnds::both) sum += sense_ * columns.row(0);
  return sum.matrix();
}

// C p is not formed: g times the difference of two close voltages would leave no digits where g is large. It follows from
// C z = r instead, as p itself follows from z.
LineSolver::Array LineSolver::reduced_solve(const Array& b, double tolerance, int max_iterations,
                                            WireSolution& out) const {
  Array u = b;
  columns_->solve(u);
  const double size = std::sqrt((b * u).sum());  // ‖b‖ in the norm of C⁻¹
  if (rows_ == nullptr || size == 0) return u;
  Array r = eliminate_rows(u, nullptr);  // b − (C − G A⁻¹ G) C⁻¹ b
  Array z = r;
  columns_->solve(z);
  Array p = z, wires = r;  // C p
  double rho = (r * z).sum();
  while (std::sqrt(std::max(rho, 0.0)) > tolerance * size && out.iterations < max_iterations) {
    const Array image = wires - eliminate_rows(p, nullptr);
    const double alpha = rho / (p * image).sum();
    u += alpha * p;
    r -= alpha * image;
    z = r;
    columns_->solve(z);
    const double next = (r * z).sum();
    p = z + (next / rho) * p;
    wires = r + (next / rho) * wires;
    rho = next;
    ++out.iterations;
  }
  out.residual = std::sqrt(std::max(rho, 0.0)) / size;
  out.converged = out.residual <= tolerance;
  return u;
}

LineSolver::Nodes LineSolver::solve_nodes(const Array& into_rows, const Array& into_columns, double tolerance,
                                          int max_iterations) const {
  Nodes nodes;
  nodes.rows = Array::Zero(transposed_.rows(), transposed_.cols());
  nodes.columns = Array::Zero(conductance_.rows(), conductance_.cols());
  if (columns_ != nullptr) {
    const Array b = rows_ != nullptr ? Array(into_columns + eliminate_rows(nodes.columns, &into_rows)) : into_columns;
    WireSolution outcome;
    nodes.columns = reduced_solve(b, tolerance, max_iterations, outcome);
    nodes.iterations = outcome.iterations;
    nodes.converged = outcome.converged;
  }
  if (rows_ != nullptr) {
    nodes.rows = into_rows + (conductance_ * nodes.columns).transpose();
    rows_->solve(nodes.rows);
  }
  return nodes;
}

Matrix<double> LineSolver::device_voltages(const Matrix<double>& volts, double tolerance, int max_iterations) const {
  return device_voltages(volts, Matrix<double>::Zero(1, conductance_.cols()), tolerance, max_iterations);
}

// A wire that is ideal is at the voltage of its terminal and pushes G times it into the nodes of the other set.
Matrix<double> LineSolver::device_voltages(const Matrix<double>& row_volts, const Matrix<double>& column_volts,
                                           double tolerance, int max_iterations) const {
  NUDGE_EXPECT(row_volts.rows() == 1 && row_volts.cols() == conductance_.rows());
  NUDGE_EXPECT(column_volts.rows() == 1 && column_volts.cols() == conductance_.cols());
  const auto of_rows = row_volts.row(0).transpose().array();
  const auto of_columns = column_volts.row(0).array();
  Array into_rows, into_columns;
  if (rows_ != nullptr) {
    into_rows = driven(row_volts);
    if (columns_ == nullptr) into_rows += transposed_.colwise() * of_columns.transpose();
  }
  if (columns_ != nullptr) {
    into_columns = driven_columns(column_volts);
    if (rows_ == nullptr) into_columns += conductance_.colwise() * of_rows;
  }
  Nodes nodes = solve_nodes(into_rows, into_columns, tolerance, max_iterations);
  if (!nodes.converged) {
    throw NumericalFailure(fmt::format("crossbar: the wires of {} x {} devices did not converge in {} iterations",
                                       conductance_.rows(), conductance_.cols(), nodes.iterations));
  }
  if (columns_ == nullptr) nodes.columns.rowwise() = of_columns;
  if (rows_ == nullptr) nodes.rows.rowwise() = row_volts.row(0).array();
  return (nodes.rows.transpose() - nodes.columns).matrix();
}

Matrix<double> LineSolver::effective_matrix(double tolerance, int threads) const {
  Matrix<double> effective(conductance_.rows(), conductance_.cols());
  if (rows_ == nullptr && columns_ == nullptr) {
    effective = conductance_.matrix();
    return effective;
  }
  std::atomic<Index> done{0};
  parallel_for(conductance_.rows(), threads, [&](Index i, int thread) {
    Matrix<double> unit = Matrix<double>::Zero(1, conductance_.rows());
    unit(0, i) = 1;
    effective.row(i) = solve(unit, tolerance).currents_A.row(0);
    const Index now = ++done;
    if (thread == 0) WireWatch::tell(now, conductance_.rows());  // the thread that called
  });
  return effective;
}

namespace {

/// Tolerance of each linear solve: below it the order of convergence would show the inner error.
constexpr double kInner = 1e-13;

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
                      "the current rises with the voltage)",
                      law.curve.sinh_V, law.curve.cubic_per_V2));
    }
  }
}

NonlinearSolver::Array NonlinearSolver::currents_of(const Array& across) const {
  return conductance_.array().binaryExpr(across, [this](double g, double v) { return law_.current(g, v); });
}

NonlinearSolver::Array NonlinearSolver::slopes_of(const Array& across) const {
  return conductance_.array().binaryExpr(across, [this](double g, double v) { return law_.slope(g, v); });
}

LineSolver NonlinearSolver::tangent(const Array& slopes) const {
  return {slopes.matrix(), wires_, DeviceSign::positive, open_};
}

Matrix<double> NonlinearSolver::currents(const State& at) const {
  if (wires_.columns_ideal()) return currents_of(at.across()).colwise().sum().matrix();
  return LineSolver(conductance_, wires_, DeviceSign::positive, open_).sensed(at.columns);
}

NonlinearSolver::State NonlinearSolver::start(const Matrix<double>& volts) const {
  const Index rows = conductance_.rows(), columns = conductance_.cols();
  State at{Array::Zero(columns, rows), Array::Zero(rows, columns), {}};
  if (wires_.rows_ideal()) at.rows.rowwise() += volts.row(0).array();  // they follow their drivers
  at.carried = currents_of(at.across());
  const Array slopes = slopes_of(at.across());
  if (wires_.ideal() || !slopes.allFinite()) return at;
  const LineSolver linear = tangent(slopes);
  Array into_rows = -at.carried.transpose();
  if (!wires_.rows_ideal()) into_rows += linear.driven(volts);
  const auto step = linear.solve_nodes(into_rows, at.carried, kInner);
  at.rows += step.rows;
  at.columns += step.columns;
  at.carried += slopes * (step.rows.transpose() - step.columns);
  return at;
}

NonlinearSolution NonlinearSolver::solve(const Matrix<double>& volts, double tolerance, int max_steps) const {
  NUDGE_EXPECT(volts.rows() == 1 && volts.cols() == conductance_.rows());
  constexpr int halvings = 40;
  const double largest = volts.cwiseAbs().maxCoeff();
  const auto size = [](const Array& imbalance) { return std::sqrt(imbalance.square().sum()); };
  NonlinearSolution out;
  State at = start(volts);
  Array now = at.carried - currents_of(at.across());
  if (largest == 0 || wires_.ideal()) {
    out.status = Status::converged;
  } else {
    out.steps.push_back(std::max(at.rows.abs().maxCoeff(), at.columns.abs().maxCoeff()) / largest);
  }
  while (out.status == Status::max_steps && static_cast<int>(out.steps.size()) < max_steps) {
    const Array slopes = slopes_of(at.across());
    if (!slopes.allFinite() || !now.allFinite()) {
      out.status = Status::diverged;
      break;
    }
    const auto step = tangent(slopes).solve_nodes(now.transpose(), -now, kInner);
    const Array carried = slopes * (step.rows.transpose() - step.columns) - now;
    // Rounding: a balance of currents cannot be better than some ulps of the largest of them.
    const double floor = 1e-13 * at.carried.abs().maxCoeff() * std::sqrt(static_cast<double>(conductance_.size()));
    double share = 1;
    State next;
    Array there;
    int tries = 0;
    do {
      next = {at.rows + share * step.rows, at.columns + share * step.columns, at.carried + share * carried};
      there = next.carried - currents_of(next.across());
      share /= 2;
    } while (!(size(there) < size(now) || size(there) <= floor) && ++tries < halvings);
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
  out.across_V = at.across().matrix();
  return out;
}

}  // namespace nudge
