// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Bias that holds up the nodes of a resistive network besides the layers.
enum class ResistiveBias {
  none,
  rails,    ///< two voltage rails at ±V_b, with a resistor from every node to each
  current,  ///< a current source into every node
};

/// Resistors into one layer.
struct ResistiveLayer {
  Matrix<double> conductance;  ///< g (n_{l−1}, n_l) ≥ 0, S: between node i of the layer below and node j of this one
  Matrix<double> bias;         ///< rails: (2, n_l) ≥ 0, S, first row to +V_b; current: (1, n_l), A; none: empty
};

/// Node of a network: layer 1 … L, and number within the layer.
struct ResistiveNode {
  Index layer = 0;
  Index node = 0;
};

/// A deep resistive network (Kendall et al. 2020, arXiv 2006.01981; Scellier 2024, arXiv 2402.11674): layers of nodes
/// joined by resistors, whose conductances are the parameters.
/// - Layer 0 is n_0 ideal voltage sources, which the resistors of layer 1 see amplified by A_0.
/// - Every node j of a hidden layer l = 1 … L−1 has an ideal diode to ground. It keeps v ≥ 0 in the first ⌊n_l/2⌋ nodes
///   and v ≤ 0 in the others. The node also has a bidirectional amplifier. The amplifier's terminal at A_l v_lj drives the
///   resistors of layer l + 1. Of the current drawn from the terminal, 1/A_l loads the node (A = 1: a wire). Output nodes
///   have neither.
/// Net current into node j of layer l, with the drops d^l_ij = A_{l−1} v_{l−1,i} − v_lj:
///     I_lj = Σ_i g^l_ij d^l_ij − (1/A_l) Σ_k g^{l+1}_jk d^{l+1}_jk + gb_0j (V_b − v_lj) + gb_1j (−V_b − v_lj)  [or + b_j]
///            + [l = L] β (y_j − v_lj)
/// with β in S the conductance of a nudge towards y. With c_1 = 1, c_{l+1} = c_l/A_l² it descends an energy (W):
///     c_l I_l = −∂E/∂v_l,   E = Σ_l c_l [½ Σ_ij g^l_ij (d^l_ij)² + bias_l] + β c_L ½|v_L − y|²
///     bias_l = ½ Σ_j [gb_0j (V_b − v_lj)² + gb_1j (−V_b − v_lj)²],  or −Σ_j b_j v_lj
/// A state is one row per sample, layers side by side: (B, N), N = n_1 + … + n_L.
class ResistiveNetwork {
 public:
  /// Makes a network; gains: A_0 … A_{L−1} > 0. UserError naming the entry for a negative or non-finite number, a layer
  /// without nodes or sizes that do not fit. Nodes without a path to a source are accepted here, see floating_nodes().
  ResistiveNetwork(std::vector<ResistiveLayer> layers, std::vector<double> gains, ResistiveBias bias, double rail_V);

  Index depth() const { return static_cast<Index>(layers_.size()); }  ///< L
  Index width(Index l) const { return l == 0 ? layer(1).conductance.rows() : layer(l).conductance.cols(); }
  Index cols() const { return columns(depth()).end(); }                                 ///< N
  Columns columns(Index l) const { return columns_[static_cast<std::size_t>(l - 1)]; }  ///< columns of layer l ≥ 1
  const ResistiveLayer& layer(Index l) const { return layers_[static_cast<std::size_t>(l - 1)]; }  ///< l ≥ 1
  double gain(Index l) const { return gains_[static_cast<std::size_t>(l)]; }                       ///< A_l, l < L
  double factor(Index l) const { return factors_[static_cast<std::size_t>(l - 1)]; }               ///< c_l, l ≥ 1
  ResistiveBias bias() const { return bias_; }
  double rail_V() const { return rail_V_; }
  bool has_diodes(Index l) const { return l < depth(); }
  Index nodes_above_zero(Index l) const { return width(l) / 2; }  ///< number of nodes with v ≥ 0 in a layer with diodes

  /// Total conductance G (1, N), S, at every node, G_lj = Σ_i g^l_ij + Σ_k g^{l+1}_jk + gb_0j + gb_1j. The amplifiers' A and 1/A cancel.
  const Matrix<double>& node_conductance() const { return node_conductance_; }

  /// Nodes that no path of conductances > 0 joins to a voltage source or rail, in order: their voltage is undefined.
  std::vector<ResistiveNode> floating_nodes() const;

 private:
  void sum_conductances();

  std::vector<ResistiveLayer> layers_;
  std::vector<double> gains_, factors_;
  ResistiveBias bias_;
  double rail_V_;
  std::vector<Columns> columns_;
  Matrix<double> node_conductance_;
};

/// Sources of layer 0 for an input x (B, n): [x, −x] (B, 2n), so that resistors, which are never negative, can weigh either sign.
Matrix<double> doubled_input(ConstMatrixRef<double> x);

/// Nudge of the output layer: a current β (y − v_L) into its nodes, with β in S of either sign and target (B, n_L). β = 0:
/// none, and the target may be empty.
struct ResistiveNudge {
  double beta = 0;
  Matrix<double> target = {};
};

/// Net currents I (B, N), A, into every node by Kirchhoff's law, at the voltages v (B, N) with sources v_0 (B, n_0). The
/// currents of the diodes are left out (ResistiveNetwork has the equation). In the steady state I is 0 at every node that no
/// diode holds.
Matrix<double> resistive_currents(const ResistiveNetwork& network, ConstMatrixRef<double> sources,
                                  ConstMatrixRef<double> v, const ResistiveNudge& nudge = {});

/// Power of every sample (B, 1), W. resistors = inputs + amplifiers + bias in the steady state without a nudge; ideal diodes
/// take none.
struct ResistivePower {
  Matrix<double> resistors;   ///< dissipated: Σ g d², rail resistors included
  Matrix<double> inputs;      ///< power of the sources: Σ A_0 v_0 × the current they deliver
  Matrix<double> amplifiers;  ///< Σ_{1 ≤ l < L} v_l (A_l − 1/A_l) × the current drawn from the terminal
  Matrix<double> bias;        ///< power of the rails or current sources
};

ResistivePower resistive_power(const ResistiveNetwork& network, ConstMatrixRef<double> sources,
                               ConstMatrixRef<double> v);

}  // namespace nudge
