// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/netlist/reduced_matrices.hpp"

namespace nudge {

/// Small currents that swing in a netlist about a point: (K + iω M) a = c over the columns of its state (NodeCoordinates), K = Nᵀ (∂r/∂v) P in S
/// and M = Nᵀ C P in F, as ngspice's .ac has it over the nodes. Solved sparsely as the real equations of both parts. One object per thread.
class SmallSignal {
 public:
  /// M of these capacitances of the nodes and of the capacitors that are drawn; without any, `column_F` at every column and no more.
  SmallSignal(const NodalEquations& equations, const NodeCoordinates& at, const std::vector<double>& node_capacitance_F,
              double column_F);

  /// c (columns, A) ← the part of a (V) that is in phase, at ω in rad/s; ∂r/∂v is the sum of two by entries of the
  /// equations' pattern. False, and c is not a number: singular.
  bool respond(const std::vector<double>& nodal, const std::vector<double>& and_of, double omega, double* c);

 private:
  ReducedMatrices reduced_;
  std::vector<double> farads_;
  SparsePattern both_;
  std::vector<std::size_t> slope_[2],
      charge_[2];  ///< entries of `both_` by those of the reduced pattern: of K twice, of ωM and −ωM
  SparseLu lu_;
  std::vector<double> values_, right_, siemens_;
};

}  // namespace nudge
