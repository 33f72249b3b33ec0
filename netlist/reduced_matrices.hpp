// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "netlist/complex_lu.hpp"
#include "netlist/node_coordinates.hpp"

namespace nudge {

/// Matrices M = Nᵀ C P and Nᵀ (∂r/∂v) P of a netlist over the columns of its state (NodeCoordinates), as entries of one
/// sparse pattern. C holds the drawn capacitors and one from every node to ground.
struct ReducedMatrices {
  /// Builds the matrices; capacitances of the nodes to ground in F.
  ReducedMatrices(const NodalEquations& equations, const NodeCoordinates& at,
                  const std::vector<double>& node_capacitance_F);

  /// Charge of the capacitances at the voltages v of the nodes, as states see it: Nᵀ C v (columns).
  void charge(const NodeCoordinates& at, const std::vector<double>& v, std::vector<double>& out) const;

  struct Part {
    std::size_t entry, from;  ///< place in this pattern; place in the nodal Jacobian
    double weight;
  };
  struct Between {
    int of, by;
    double farad;
  };
  /// Capacitor whose charge follows voltages: its element, its capacitance as it is set, its places in `between`, and its shares of M.
  struct Curved {
    std::size_t element;
    double farad;
    std::vector<std::pair<std::size_t, double>> between = {};  ///< place and sign
    std::vector<std::pair<std::size_t, double>> shares = {};   ///< entry and weight
  };
  /// Sets the capacitances of junctions, gates and bases to those at the voltages v of the nodes; they are made at 0 V.
  void set_junctions(const NodalEquations& equations, const double* v);

  std::vector<Curved> curved;
  std::vector<Between> between;  ///< entries of C
  std::vector<Part> slopes;      ///< contributions to Nᵀ (∂r/∂v) P
  std::vector<double> farads;    ///< M by entry
  std::vector<int> columns;      ///< columns of the entries
  SparsePattern pattern;         ///< pattern, with the whole diagonal

 private:
  void share_junctions(const NodeCoordinates& at);
};

/// Rates of the columns of a state from the currents that charge them, M dz/dt = i, M of ReducedMatrices. One object per thread.
class ColumnCharges {
 public:
  /// Factorises M. The arguments must outlive this object, except output_names, which messages use.
  ColumnCharges(const NodalEquations& equations, const NodeCoordinates& at, const ReducedMatrices& matrices,
                const std::vector<std::string>& output_names);

  /// Solves x (columns) ← M⁻¹ x. UserError naming the column if M is singular.
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

/// Small-signal solver: small oscillating currents in a netlist about a point, (K + iω M) a = c over the columns of its state
/// (NodeCoordinates). K = Nᵀ (∂r/∂v) P in S and M = Nᵀ C P in F, as ngspice's .ac has it over the nodes. Solved sparsely as
/// the real equations of both parts. One object per thread.
class SmallSignal {
 public:
  /// Makes M from these capacitances of the nodes and the drawn capacitors; without any, `column_F` at every column and no more.
  SmallSignal(const NodalEquations& equations, const NodeCoordinates& at, const std::vector<double>& node_capacitance_F,
              double column_F);

  /// Replaces c (columns, A) by the in-phase part of a (V), at ω in rad/s; ∂r/∂v is the sum `nodal` + `and_of`, by entries of
  /// the equations' pattern. Returns false, with c not a number, if the matrix is singular.
  bool respond(const std::vector<double>& nodal, const std::vector<double>& and_of, double omega, double* c);

 private:
  ReducedMatrices reduced_;
  std::vector<double> farads_;
  ComplexLu lu_;
  std::vector<double> right_, quadrature_, siemens_, charging_;
};

}  // namespace nudge
