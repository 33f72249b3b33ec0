// SPDX-License-Identifier: Apache-2.0
#include "netlist/point_stability.hpp"

#include <cmath>
#include <limits>

#include "netlist/reduced_matrices.hpp"
#include "sim/base/decompositions.hpp"

namespace nudge {
namespace {

constexpr int kMostColumns = 512;  // their dense eigenvalues take a second
constexpr double kNode_F = 1e-12;

/// Dense matrix of the entries of a pattern.
Eigen::MatrixXd dense(const SparsePattern& pattern, const std::vector<double>& values) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(pattern.size, pattern.size);
  for (int column = 0; column < pattern.size; ++column) {
    for (int k = pattern.column_begin[static_cast<std::size_t>(column)];
         k < pattern.column_begin[static_cast<std::size_t>(column) + 1]; ++k) {
      out(pattern.row[static_cast<std::size_t>(k)], column) += values[static_cast<std::size_t>(k)];
    }
  }
  return out;
}

/// Largest real part of an eigenvalue; nothing where rounding hides its sign.
std::optional<double> rightmost(const NodalEquations& equations, const NodeCoordinates& at,
                                const std::vector<double>& x) {
  const std::vector<double> farads(static_cast<std::size_t>(equations.nodes()), kNode_F);
  const ReducedMatrices reduced(equations, at, farads);
  std::vector<double> residual, jacobian, siemens(reduced.pattern.entries(), 0.0);
  equations.evaluate(x, equations.values(), {}, {}, nullptr, residual, jacobian);
  for (const ReducedMatrices::Part& part : reduced.slopes) siemens[part.entry] += part.weight * jacobian[part.from];
  const Matrix<double> charges = dense(reduced.pattern, reduced.farads);
  const Matrix<double> rates = LuFactors<double>(charges).solve(Matrix<double>(-dense(reduced.pattern, siemens)));
  const double found = eigenvalues(rates).real().maxCoeff();
  // The computed eigenvalues are those of a matrix that is off by some n rounding errors of its norm (Golub & Van Loan, Matrix
  // Computations, section 7.5.6). So is an eigenvalue of a reciprocal circuit, whose matrix is similar to a symmetric one.
  const double doubt = static_cast<double>(rates.rows()) * std::numeric_limits<double>::epsilon() * rates.norm();
  if (!(std::abs(found) > doubt)) return std::nullopt;
  return found;
}

}  // namespace

std::optional<double> growth_rate(const NodalEquations& equations, const std::vector<double>& x) {
  try {
    const NodeCoordinates at(equations, {});
    if (at.columns() == 0 || at.columns() > kMostColumns) return std::nullopt;
    return rightmost(equations, at, x);
  } catch (const UserError&) {  // of elements without a state of their own
    return std::nullopt;
  }
}

}  // namespace nudge
