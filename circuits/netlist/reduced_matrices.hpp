// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "circuits/netlist/node_coordinates.hpp"

namespace nudge {

/// The matrices M = Nᵀ C P and Nᵀ (∂r/∂v) P of a netlist over the columns of its state (NodeCoordinates) as entries of one sparse pattern, C
/// the capacitors that are drawn and one from every node to ground.
struct ReducedMatrices {
  /// Capacitances of the nodes to ground, in F.
  ReducedMatrices(const NodalEquations& equations, const NodeCoordinates& at,
                  const std::vector<double>& node_capacitance_F);

  /// Charge that capacitances have at the voltages v of the nodes, as states see it: Nᵀ C v (columns).
  void charge(const NodeCoordinates& at, const std::vector<double>& v, std::vector<double>& out) const;

  struct Part {
    std::size_t entry, from;  ///< of the pattern; of the nodal Jacobian
    double weight;
  };
  struct Between {
    int of, by;
    double farad;
  };
  std::vector<Between> between;  ///< entries of C
  std::vector<Part> slopes;      ///< what makes up Nᵀ (∂r/∂v) P
  std::vector<double> farads;    ///< M by entry
  std::vector<int> columns;      ///< of the entries
  SparsePattern pattern;         ///< which has the whole diagonal
};

/// Rates of the columns of a state from the currents that charge them, M dz/dt = i, M of ReducedMatrices. One object per thread.
class ColumnCharges {
 public:
  /// What is referred to must outlive it; output_names in messages.
  ColumnCharges(const NodalEquations& equations, const NodeCoordinates& at, const ReducedMatrices& matrices,
                const std::vector<std::string>& output_names);

  /// x (columns) ← M⁻¹ x. UserError where M is singular, with the column.
  void rates(double* x);

 private:
  [[noreturn]] void refuse_singular() const;
  const NodalEquations* equations_;
  const NodeCoordinates* at_;
  const ReducedMatrices* matrices_;
  const std::vector<std::string>* output_names_;
  SparseLu lu_;
  bool factored_ = false;
};

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
