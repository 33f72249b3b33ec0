// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "circuits/netlist/netlist.hpp"
#include "circuits/netlist/sparse_lu.hpp"
#include "sim/dynamics.hpp"

namespace nudge {

/// Two nodes whose difference of voltages is looked at; kGround is one.
struct NodePair {
  int plus = kGround, minus = kGround;
};

/// What acts between the nodes of an output: a current q − load (v₊ − v₋) into the first and out of the second, or a source that
/// holds v₊ − v₋ = value.
struct OutputAction {
  bool held = false;
  double value = 0;  ///< q in A, or V
  double load_S = 0;
};

/// How the equations are made easier on the way to a solution.
struct Easing {
  double gmin_S = 0;   ///< from every node to ground
  double sources = 1;  ///< factor of all independent sources and of what acts on outputs
};

/// The voltages at which the junctions and transistors were linearised; what limits their steps (JunctionLaw::limited).
struct JunctionState {
  std::vector<double> volts;
  bool limited = false;  ///< the last evaluation held some back
  int worst = -1;        ///< the element that was held back most
};

/// Modified nodal analysis (Ho, Ruehli & Brennan, IEEE Trans. Circuits Syst. 22 (1975) 504) of a netlist at direct current. Unknowns x are the voltages of the
/// nodes, then the currents of voltage sources (V, E, H) in the order of the netlist, then those of the outputs. Equations are Kirchhoff's law
/// of currents that leave a node, then the laws of the branches,
///     r_node = Σ I(elements) = 0,      r_V = v₊ − v₋ − e,   r_E = v₊ − v₋ − k (v_c₊ − v_c₋),   r_H = v₊ − v₋ − k i_c
///     outputs: i − (load (v₊ − v₋) − q) = 0,  or v₊ − v₋ − value = 0 where held
/// Capacitors carry nothing. gmin lies across every junction. Read-only: threads share it.
class NodalEquations {
 public:
  explicit NodalEquations(Netlist netlist, std::vector<NodePair> outputs = {});

  const Netlist& netlist() const { return netlist_; }
  const std::vector<NodePair>& outputs() const { return outputs_; }
  int nodes() const { return static_cast<int>(netlist_.nodes.size()); }
  int unknowns() const { return pattern_.size; }
  const SparsePattern& pattern() const { return pattern_; }
  bool linear() const { return bent_.empty(); }
  /// Of an unknown: "v(node)", "i(source)".
  std::string unknown_name(int unknown) const;
  /// Unknown of the current of a source of voltage, by its number in the netlist; −1: it has none.
  int branch(std::size_t element) const { return branch_[element]; }

  /// A number per element that the equations have from outside: conductance of a resistor in S, else Element::value.
  std::vector<double> values() const;

  /// At x: residual (unknowns) and Jacobian (entries of the pattern). With `state` junctions are linearised at limited voltages, which it
  /// keeps; without, where x has them. Elements whose kind is not in `kinds` (bits by ElementKind) are left out, and outputs without kOutputs.
  static constexpr std::uint32_t kAllElements = ~0U, kOutputs = 1U << 31U;
  void evaluate(const std::vector<double>& x, const std::vector<double>& values,
                const std::vector<OutputAction>& actions, const Easing& easing, JunctionState* state,
                std::vector<double>& residual, std::vector<double>& jacobian, std::uint32_t kinds = kAllElements) const;

  /// What does not bend of evaluate(), residual = r₀ + J x, once for all x; and evaluate() by it, with a look at no other element than those
  /// that bend.
  struct Affine {
    std::vector<double> residual, jacobian;
  };
  void evaluate_affine(const std::vector<double>& values, const std::vector<OutputAction>& actions,
                       Affine& affine) const;
  void evaluate(const Affine& affine, const std::vector<double>& x, JunctionState* state, std::vector<double>& residual,
                std::vector<double>& jacobian) const;

  /// The state of junctions at x.
  JunctionState junctions_at(const std::vector<double>& x) const;

 private:
  class Stamps;
  void build();
  void entries_of(const Element& element, int branch, std::vector<std::pair<int, int>>& entries) const;

  Netlist netlist_;
  std::vector<NodePair> outputs_;
  std::vector<int> branch_;
  std::vector<std::string> branch_names_;
  std::vector<std::size_t> first_entry_;  ///< of an element in slots_, then of outputs, then of the diagonal of nodes
  std::vector<int> slots_;                ///< entry of the pattern, or one behind the last for what ground has
  SparsePattern pattern_;
  std::vector<std::size_t> bent_;  ///< elements with junctions and transistors
};

/// Kinds of elements as a set of bits.
constexpr std::uint32_t kind_bit(ElementKind kind) { return 1U << static_cast<unsigned>(kind); }

/// The kinds of elements whose currents are of a part of the force, but for those that sources of voltage carry. Where controlled sources set
/// voltages or carry currents (`reciprocal` of NodeCoordinates is false) nothing is conservative.
constexpr std::uint32_t kinds_of_part(Part part, bool reciprocal) {
  constexpr std::uint32_t conservative =
      kind_bit(ElementKind::resistor) | kind_bit(ElementKind::diode) | kind_bit(ElementKind::current);
  constexpr std::uint32_t rest = kind_bit(ElementKind::vccs) | kind_bit(ElementKind::mosfet);
  if (part == Part::all) return conservative | rest;
  if (part == Part::conservative) return reciprocal ? conservative : 0;
  return reciprocal ? rest : conservative | rest;
}

/// By output: whether any of these independent sources can move its voltage, by a way of elements between nodes that leads neither through ground
/// nor through a node which a constant source holds against it. Capacitors lead nowhere at direct current. A necessary condition: what
/// reaches an output may still cancel there.
std::vector<bool> reached_outputs(const NodalEquations& equations, const std::vector<std::size_t>& sources);

}  // namespace nudge
