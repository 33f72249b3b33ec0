// SPDX-License-Identifier: Apache-2.0
#include "tests/circuits/nodal_solver.hpp"

#include <Eigen/SparseCholesky>
#include <vector>

#include "sim/base/errors.hpp"

namespace nudge {

struct NodalSolver::Factor {
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> ldlt;
};

NodalSolver::NodalSolver(const Matrix<double>& g, const WireSpec& spec)
    : spec_(spec), rows_(g.rows()), cols_(g.cols()), factor_(std::make_unique<Factor>()) {
  spec.validate();
  if (spec.row_ohm <= 0 || spec.column_ohm <= 0) {
    throw UserError("nodal analysis needs wires.row_ohm and wires.column_ohm > 0 (the line solver takes ideal wires)");
  }
  std::vector<Eigen::Triplet<double>> entries;
  const auto row_node = [&](Index i, Index j) { return static_cast<int>(i * cols_ + j); };
  const auto column_node = [&](Index i, Index j) { return static_cast<int>((rows_ + i) * cols_ + j); };
  const auto stamp = [&entries](int a, int b, double conductance) {
    entries.insert(entries.end(),
                   {{a, a, conductance}, {b, b, conductance}, {a, b, -conductance}, {b, a, -conductance}});
  };
  for (Index i = 0; i < rows_; ++i) {
    for (Index j = 0; j < cols_; ++j) {
      stamp(row_node(i, j), column_node(i, j), g(i, j));
      if (j + 1 < cols_) stamp(row_node(i, j), row_node(i, j + 1), 1.0 / spec.row_ohm);
      if (i + 1 < rows_) stamp(column_node(i, j), column_node(i + 1, j), 1.0 / spec.column_ohm);
    }
  }
  const auto terminal = [&entries](int node, double conductance) { entries.emplace_back(node, node, conductance); };
  const double driver = 1.0 / (spec.row_ohm + spec.driver_ohm);
  const double sense = 1.0 / (spec.column_ohm + spec.sense_ohm);
  for (Index i = 0; i < rows_; ++i) {
    terminal(row_node(i, 0), driver);
    if (spec.rows_driven == LineEnds::both) terminal(row_node(i, cols_ - 1), driver);
  }
  for (Index j = 0; j < cols_; ++j) {
    terminal(column_node(rows_ - 1, j), sense);
    if (spec.columns_sensed == LineEnds::both) terminal(column_node(0, j), sense);
  }
  const auto n = static_cast<int>(2 * rows_ * cols_);
  Eigen::SparseMatrix<double> matrix(n, n);
  matrix.setFromTriplets(entries.begin(), entries.end());
  factor_->ldlt.compute(matrix);
  NUDGE_EXPECT(factor_->ldlt.info() == Eigen::Success);
}

NodalSolver::~NodalSolver() = default;

Matrix<double> NodalSolver::nodes(const Matrix<double>& volts) const {
  NUDGE_EXPECT(volts.rows() == 1 && volts.cols() == rows_);
  const double driver = 1.0 / (spec_.row_ohm + spec_.driver_ohm);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(2 * rows_ * cols_);
  for (Index i = 0; i < rows_; ++i) {
    right(i * cols_) += driver * volts(0, i);
    if (spec_.rows_driven == LineEnds::both) right(i * cols_ + cols_ - 1) += driver * volts(0, i);
  }
  const Eigen::VectorXd solved = factor_->ldlt.solve(right);
  return Eigen::Map<const Matrix<double>>(solved.data(), 2 * rows_, cols_);
}

Matrix<double> NodalSolver::solve(const Matrix<double>& volts) const {
  const double sense = 1.0 / (spec_.column_ohm + spec_.sense_ohm);
  const Matrix<double> at = nodes(volts);
  Matrix<double> currents = sense * at.row(2 * rows_ - 1);
  if (spec_.columns_sensed == LineEnds::both) currents += sense * at.row(rows_);
  return currents;
}

Matrix<double> NodalSolver::device_voltages(const Matrix<double>& volts) const {
  const Matrix<double> at = nodes(volts);
  return at.topRows(rows_) - at.bottomRows(rows_);
}

}  // namespace nudge
