// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/resistive/diode_law.hpp"
#include "circuits/resistive/resistive_network.hpp"

namespace nudge::test {

/// Finds the steady state of a deep resistive network whose diodes are Shockley's instead of ideal: the one minimum of
/// the convex E(v) + Σ c_l Φ(v_lj). Newton's method uses the exact second derivative (ResistiveFactor) and a line
/// search on the energy (Armijo; Nocedal & Wright, Numerical Optimization, 2nd ed., section 3.1). It starts from the
/// steady state with ideal diodes, with n V_T ln(1 + I/I_s) across those that carry I, and is refined until a step is
/// below rounding.
class ShockleySolver {
 public:
  /// Makes the solver, as ResistiveSolver; keeps a reference to the network. UserError for a diode that is none.
  ShockleySolver(const ResistiveNetwork& network, const ShockleyDiode& diode);

  /// Returns v (B, N), V. NumericalFailure as ResistiveSolver::solve(), or with the residual where Newton's method does
  /// not end.
  Matrix<double> solve(ConstMatrixRef<double> sources, const ResistiveNudge& nudge = {}) const;

  /// Returns the error of Kirchhoff's law: max |I| over the nodes of the net current, diodes included, over the current
  /// that the node's conductance takes at the largest voltage.
  double residual(ConstMatrixRef<double> sources, const ResistiveNudge& nudge, ConstMatrixRef<double> v) const;

 private:
  Matrix<double> currents(ConstMatrixRef<double> sources, const ResistiveNudge& nudge, ConstMatrixRef<double> v) const;
  double energy(ConstMatrixRef<double> sources, const ResistiveNudge& nudge, ConstMatrixRef<double> v) const;
  void solve_one(ConstMatrixRef<double> sources, const ResistiveNudge& nudge, Matrix<double>& v) const;
  double sign(Index node) const { return signs_(0, node); }

  const ResistiveNetwork* network_;
  ShockleyDiode diode_;
  Matrix<double> signs_;    ///< (1, N): ±1 of a node with a diode, 0 without
  Matrix<double> factors_;  ///< (1, N): c_l
};

}  // namespace nudge::test
