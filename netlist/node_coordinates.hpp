// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "netlist/nodal_equations.hpp"

namespace nudge {

/// Entry of a sparse row: the number of a column, node or element, and its weight.
struct Share {
  int number;
  double weight;
};

/// Balance of the branches that makes a circuit with amplifiers reciprocal. Let p_k and n_k be the rows by which branch k
/// sees the voltages of the columns and moves their charge, J = −Σ_k n_kᵀ g_k p_k. Where there are positive d_c and σ_k with
///     d_c n_kc = σ_k p_kc                         for every branch k and column c,
/// the columns z_c = √d_c v_c have the symmetric J = −Σ_k σ_k g_k p'_kᵀ p'_k, p'_kc = p_kc/√d_c, and a force that is minus the slope of
///     E = Σ_k σ_k ∫ I_k dv
/// A bidirectional amplifier (voltage times A, current times 1/A) has such a balance: with d = 1 behind, σ = 1 at its
/// terminal and A² at its node. These are the factors of the learning rule of Kendall et al. 2020 (arXiv 2006.01981) and
/// Scellier 2024 (arXiv 2402.11674). σ is 0 for a branch that moves no column.
struct BranchBalance {
  std::vector<double> scale;   ///< √d by column
  std::vector<double> weight;  ///< σ by branch
};

/// Balance of branches between nodes, whose rows p and n are. d = 1 in the columns from first_output on and, where none of
/// these reaches, in one. Nothing if there are no such numbers.
std::optional<BranchBalance> branch_balance(const std::vector<std::vector<Share>>& p,
                                            const std::vector<std::vector<Share>>& n,
                                            const std::vector<NodePair>& branches, int columns, int first_output);

/// Coordinates of a netlist's state without the voltages that sources set: columns z are the voltages of the other nodes,
/// then the voltages of the outputs,
///     v = P z + Q e,      F_z = Nᵀ F_v,      z_output = v₊ − v₋
/// with e the values of independent voltage sources. P, Q follow from the laws of V and E. N follows from the currents that V, E
/// and F carry: displacements of z move charge through nodes that a source ties together. Without controlled
/// sources of voltage and current N = P, and a force that is minus the slope of an energy stays one. With balanced amplifiers
/// (BranchBalance; bidirectional ones are) columns are scaled, z = √d v, so that it is one too, every branch with its weight.
/// An output between two nodes takes the place of one of them.
class NodeCoordinates {
 public:
  /// Makes the coordinates. UserError for H and sources of voltage by an expression, whose voltages no state of nodes has, and for expressions
  /// of currents (with_branch_states() gives these nodes). UserError for sources that set each other to no finite value. UserError also for an output whose voltage sources set, or other outputs give (`output_names` in messages).
  NodeCoordinates(const NodalEquations& equations, const std::vector<std::string>& output_names);

  int columns() const { return static_cast<int>(node_of_.size()) + outputs_; }
  int outputs() const { return outputs_; }
  /// Number of columns before the outputs.
  const NodalEquations& equations() const { return *equations_; }
  int inner() const { return static_cast<int>(node_of_.size()); }
  /// Node of an inner column.
  int node_of(int column) const { return node_of_[static_cast<std::size_t>(column)]; }
  /// True if resistors, diodes and current sources have an energy: N_k = σ_k P_k for each of them, N = P where σ = 1.
  bool reciprocal() const { return reciprocal_; }
  /// True if some σ is not 1. weight() gives σ of a resistor, diode or current source, or of the elements from a node to ground.
  bool weighted() const { return !balance_.weight.empty(); }
  double weight(std::size_t element) const { return weighted() ? balance_.weight[element] : 1; }
  double shunt_weight(int node) const {
    return weighted() ? balance_.weight[elements_ + static_cast<std::size_t>(node)] : 1;
  }

  /// Columns of z that set the voltage of a node (its row of P); carried(): columns that its current moves (its row of N).
  const std::vector<Share>& set_by(int node) const { return p_[static_cast<std::size_t>(node)]; }
  const std::vector<Share>& carried(int node) const { return n_[static_cast<std::size_t>(node)]; }

  /// Computes the voltages v (nodes) of a state z, with the values of all elements.
  void voltages(const double* z, const std::vector<double>& values, double* v) const;
  /// Inverse maps: z from voltages, and u from w = N u.
  void state(const std::vector<double>& v, double* z) const;
  void costate(const std::vector<double>& w, double* u) const;
  /// Computes the change P d of the voltages for a change d of the state, without sources.
  void displaced(const double* d, double* v) const;
  /// Adds Pᵀ y to out.
  void pull(const double* y, double* out) const;
  /// Spreads w = N u; gather() adds Nᵀ f to out.
  void spread(const double* u, double* w) const;
  void gather(const double* f, double* out) const;
  /// Entry of Qᵀ y for one source.
  double pull_source(std::size_t element, const double* y) const;

 private:
  struct Elimination;
  void weigh_branches();

  const NodalEquations* equations_;
  int outputs_ = 0;
  bool reciprocal_ = true;
  std::size_t elements_;                       ///< number of elements of the netlist
  BranchBalance balance_;                      ///< balance by elements, then nodes; empty if N = P or nothing balances
  std::vector<int> node_of_;                   ///< nodes of the inner columns
  std::vector<std::vector<Share>> p_, n_;      ///< rows of P and N by node
  std::vector<std::vector<Share>> q_;          ///< rows of Q by node, over elements
  std::vector<std::vector<Share>> by_source_;  ///< columns of Q by element, over nodes
};

/// Co-content (Millar 1951) in W at node voltages v, half the power of resistors where there are only these, weighted by the coordinates' σ:
///     E = Σ_k σ_k ∫ I_k dv,     resistors ½ g v²,   diodes ∫ I dv and of gmin,   current sources I v,   shunts
/// values by element: conductance of a resistor in S, else Element::value.
double netlist_energy_W(const NodalEquations& equations, const NodeCoordinates& at, const std::vector<double>& values,
                        const std::vector<double>& v);

/// Computes out (nodes or more) = ∂E/∂v: the currents that leave the nodes through elements with an energy, each times its weight.
void weighted_currents(const NodalEquations& equations, const NodeCoordinates& at, const std::vector<double>& values,
                       const std::vector<double>& v, std::vector<double>& out);

}  // namespace nudge
