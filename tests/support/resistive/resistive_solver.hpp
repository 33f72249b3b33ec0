// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/resistive/resistive_network.hpp"

namespace nudge::test {

/// Steady state of every sample.
struct ResistiveState {
  Matrix<double> voltages;              ///< v (B, N), V; 0 where a diode holds
  std::vector<std::vector<bool>> free;  ///< true, per sample and node, where no diode holds the node
};

/// Finds the steady state: the one minimum of the energy, a convex quadratic programme, to rounding. Coordinate descent
/// brings every sample near its set of conducting diodes. Then a linear solve gives the voltages of the free nodes.
/// Nodes on the wrong side of their diode are held, and held nodes whose current would lift them off are freed, until
/// the set stays the same (a semismooth Newton method; Hintermüller, Ito & Kunisch, SIAM J. Optim. 13, 865 (2002)). If
/// it does not, more sweeps follow. Signs are judged against rounding, 64 ε of the largest voltage of the sample, so
/// the units do not matter. NumericalFailure with the inequality and the limit where the nudged energy is not convex
/// (convex_nudge_limit_S), or with the residual where the set still changes after 4096 sweeps. Needs a network without
/// floating nodes (UserError).
class ResistiveSolver {
 public:
  explicit ResistiveSolver(const ResistiveNetwork& network);

  /// Solves from v = 0, clipped; sources (B, n_0). start: where coordinate descent begins, (B, N); it changes the way
  /// and not the result.
  ResistiveState solve(ConstMatrixRef<double> sources, const ResistiveNudge& nudge = {}) const;
  ResistiveState solve(ConstMatrixRef<double> sources, const ResistiveNudge& nudge, ConstMatrixRef<double> start) const;

  /// Largest β: above it there is no phase of −β.
  double nudge_limit_S() const { return limit_S_; }

 private:
  const ResistiveNetwork* network_;
  double limit_S_;
};

/// Returns the currents of the diodes, −I where one holds its node and 0 elsewhere (B, N): ≥ 0 at nodes kept above 0, ≤
/// 0 at the others.
Matrix<double> diode_currents(const ResistiveNetwork& network, ConstMatrixRef<double> sources,
                              const ResistiveState& state, const ResistiveNudge& nudge = {});

}  // namespace nudge::test
