// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "circuits/wires/wire_spec.hpp"

namespace nudge {

/// The same crossbar by modified nodal analysis without shortcuts: 2 N M node voltages, sparse Cholesky factorisation
/// (Eigen SimplicialLDLT). The reference for LineSolver; needs both wire resistances > 0. Memory grows faster than the
/// array: about 200 MB of factor at 512 x 512.
class NodalSolver {
 public:
  NodalSolver(const Matrix<double>& conductance_S, const WireSpec& spec);
  ~NodalSolver();

  /// Currents (1, M) for the row voltages v (1, N).
  Matrix<double> solve(const Matrix<double>& volts) const;

  /// Voltages across all devices (N, M).
  Matrix<double> device_voltages(const Matrix<double>& volts) const;

 private:
  struct Factor;
  /// Node voltages: of the row wires, row by row, and then of the column wires (2 N, M).
  Matrix<double> nodes(const Matrix<double>& volts) const;
  WireSpec spec_;
  Index rows_, cols_;
  std::unique_ptr<Factor> factor_;
};

}  // namespace nudge
