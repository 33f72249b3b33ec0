// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "circuits/netlist/nodal_equations.hpp"

namespace nudge {

/// A number with a weight, of a sparse row.
struct Share {
  int number;
  double weight;
};

/// What makes a circuit with amplifiers reciprocal. Let p_k and n_k be the rows by which branch k sees the voltages of the columns and
/// moves their charge, J = −Σ_k n_kᵀ g_k p_k. Where there are positive d_c and σ_k with
///     d_c n_kc = σ_k p_kc                         for every branch k and column c,
/// the columns z_c = √d_c v_c have the symmetric J = −Σ_k σ_k g_k p'_kᵀ p'_k, p'_kc = p_kc/√d_c, and a force that is minus the slope of
///     E = Σ_k σ_k ∫ I_k dv
/// A bidirectional amplifier (voltage times A, current times 1/A) has it: with d = 1 behind, σ = 1 at its terminal and A² at its node, the
/// factors of the learning rule of Kendall et al. 2020 (arXiv 2006.01981) and Scellier 2024 (arXiv 2402.11674). σ is 0 of a branch that moves no column.
struct BranchBalance {
  std::vector<double> scale;   ///< √d by column
  std::vector<double> weight;  ///< σ by branch
};

/// By branches between nodes, whose rows p and n are; d = 1 in the columns from first_output on and, where none of these reaches, in one.
/// Nothing where no such numbers are.
std::optional<BranchBalance> branch_balance(const std::vector<std::vector<Share>>& p,
                                            const std::vector<std::vector<Share>>& n,
                                            const std::vector<NodePair>& branches, int columns, int first_output);

/// A state of a netlist without the voltages that sources set: columns z are the voltages of the other nodes, then those of the outputs,
///     v = P z + Q e,      F_z = Nᵀ F_v,      z_output = v₊ − v₋
/// e the values of independent voltage sources. P, Q follow from the laws of V and E, N from those of the currents that they and F carry:
/// displacements of z move charge through nodes that hang on each other by a source. Without controlled sources of voltage and current
/// N = P, and a force that is minus the slope of an energy stays one; with amplifiers that are balanced (BranchBalance, bidirectional ones
/// are) columns are scaled, z = √d v, so that it is one too, every branch with its weight. An output between two nodes takes the place of one of them.
class NodeCoordinates {
 public:
  /// UserError for H, whose voltage no state of nodes has; for sources that set each other to no finite value; for an output whose
  /// voltage sources set, or that others give (`output_names` in messages).
  NodeCoordinates(const NodalEquations& equations, const std::vector<std::string>& output_names);

  int columns() const { return static_cast<int>(node_of_.size()) + outputs_; }
  int outputs() const { return outputs_; }
  /// Columns before the outputs.
  int inner() const { return static_cast<int>(node_of_.size()); }
  /// Of an inner column.
  int node_of(int column) const { return node_of_[static_cast<std::size_t>(column)]; }
  /// Whether resistors, diodes and current sources have an energy: N_k = σ_k P_k of each of them, N = P where σ = 1.
  bool reciprocal() const { return reciprocal_; }
  /// Whether some σ is not 1; σ of a resistor, diode or current source, and of what lies from a node to ground.
  bool weighted() const { return !balance_.weight.empty(); }
  double weight(std::size_t element) const { return weighted() ? balance_.weight[element] : 1; }
  double shunt_weight(int node) const {
    return weighted() ? balance_.weight[elements_ + static_cast<std::size_t>(node)] : 1;
  }

  /// Columns of z that set the voltage of a node (its row of P), and that its current moves (of N).
  const std::vector<Share>& set_by(int node) const { return p_[static_cast<std::size_t>(node)]; }
  const std::vector<Share>& carried(int node) const { return n_[static_cast<std::size_t>(node)]; }

  /// v (nodes) of a state and of the values of all elements.
  void voltages(const double* z, const std::vector<double>& values, double* v) const;
  /// z of voltages, and u of w = N u, the other way round.
  void state(const std::vector<double>& v, double* z) const;
  void costate(const std::vector<double>& w, double* u) const;
  /// The same without sources: P d.
  void displaced(const double* d, double* v) const;
  /// out += Pᵀ y.
  void pull(const double* y, double* out) const;
  /// w = N u, and out += Nᵀ f.
  void spread(const double* u, double* w) const;
  void gather(const double* f, double* out) const;
  /// (Qᵀ y) of one source.
  double pull_source(std::size_t element, const double* y) const;

 private:
  struct Elimination;
  void weigh_branches();

  const NodalEquations* equations_;
  int outputs_ = 0;
  bool reciprocal_ = true;
  std::size_t elements_;                       ///< of the netlist
  BranchBalance balance_;                      ///< by elements, then nodes; empty where N = P or nothing balances
  std::vector<int> node_of_;                   ///< of the inner columns
  std::vector<std::vector<Share>> p_, n_;      ///< by node
  std::vector<std::vector<Share>> q_;          ///< by node: elements
  std::vector<std::vector<Share>> by_source_;  ///< by element: nodes
};

/// Co-content (Millar 1951) in W at node voltages v, half the power of resistors where there are only these, weighted as the coordinates say:
///     E = Σ_k σ_k ∫ I_k dv,     resistors ½ g v²,   diodes ∫ I dv and of gmin,   current sources I v,   shunts
/// values by element: conductance of a resistor in S, else Element::value.
double netlist_energy_W(const NodalEquations& equations, const NodeCoordinates& at, const std::vector<double>& values,
                        const std::vector<double>& v);

/// out (nodes or more) = ∂E/∂v, the currents of what has an energy that leave the nodes, each times its weight.
void weighted_currents(const NodalEquations& equations, const NodeCoordinates& at, const std::vector<double>& values,
                       const std::vector<double>& v, std::vector<double>& out);

}  // namespace nudge
