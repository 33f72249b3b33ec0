// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "netlist/netlist.hpp"
#include "netlist/sparse_lu.hpp"
#include "sim/dynamics.hpp"

namespace nudge {

/// Kinds of elements as a set of bits.
constexpr std::uint32_t kind_bit(ElementKind kind) { return 1U << static_cast<unsigned>(kind); }

/// Kinds of elements whose currents or voltages are no linear functions.
inline constexpr std::uint32_t kBentKinds =
    kind_bit(ElementKind::diode) | kind_bit(ElementKind::mosfet) | kind_bit(ElementKind::formula_voltage) |
    kind_bit(ElementKind::formula_current) | kind_bit(ElementKind::bipolar) | kind_bit(ElementKind::curved_resistor);

/// Two nodes whose difference of voltages is observed; kGround is allowed.
struct NodePair {
  int plus = kGround, minus = kGround;
};

/// Action between the nodes of an output: a current q − load (v₊ − v₋) into the first and out of the second, or a source that
/// holds v₊ − v₋ = value.
struct OutputAction {
  bool held = false;
  double value = 0;  ///< q in A, or V
  double load_S = 0;
};

/// Easing of the equations on the way to a solution.
struct Easing {
  double gmin_S = 0;   ///< conductance from every node to ground
  double sources = 1;  ///< factor on all independent sources and on the actions on outputs
};

/// Voltages at which the junctions and transistors were linearised; they limit the next steps (JunctionLaw::limited).
struct JunctionState {
  std::vector<double> volts;
  bool limited = false;  ///< true if the last evaluation held some back
  bool finite = true;    ///< false if the last evaluation met an expression that is not
  int worst = -1;        ///< element that was held back most
  void begin() {
    limited = false;
    finite = true;
  }
};

/// Modified nodal analysis (Ho, Ruehli & Brennan, IEEE Trans. Circuits Syst. 22 (1975) 504) of a netlist at direct current.
/// Unknowns x are the voltages of the nodes, then the currents of voltage sources (V, E, H) in the order of the netlist, then
/// the currents of the outputs. Equations are Kirchhoff's law of currents that leave a node, then the laws of the branches,
///     r_node = Σ I(elements) = 0,      r_V = v₊ − v₋ − e,   r_E = v₊ − v₋ − k (v_c₊ − v_c₋),   r_H = v₊ − v₋ − k i_c
///     outputs: i − (load (v₊ − v₋) − q) = 0,  or v₊ − v₋ − value = 0 where held
/// B sources have r = v₊ − v₋ − f, or a current f (FormulaLaw). Capacitors carry nothing, inductors are shorts (r = v₊ − v₋). gmin lies
/// across every junction. Read-only: threads share it.
class NodalEquations {
 public:
  explicit NodalEquations(Netlist netlist, std::vector<NodePair> outputs = {});

  const Netlist& netlist() const { return netlist_; }
  const std::vector<NodePair>& outputs() const { return outputs_; }
  int nodes() const { return static_cast<int>(netlist_.nodes.size()); }
  int unknowns() const { return pattern_.size; }
  const SparsePattern& pattern() const { return pattern_; }
  bool linear() const { return bent_.empty(); }
  /// Name of an unknown: "v(node)", "i(source)".
  std::string unknown_name(int unknown) const;
  /// Unknown of the current of a voltage source, by the element's number in the netlist; −1: it has none.
  int branch(std::size_t element) const { return branch_[element]; }

  /// Unknowns whose difference is an input of a formula (FormulaLaw::inputs); kGround for the second of a current.
  std::pair<int, int> input_unknowns(const Element& element, int input) const;

  /// Values, one per element, that the equations get from outside: conductance of a resistor in S, else Element::value.
  std::vector<double> values() const;

  /// Bits for `kinds` of evaluate(), which computes residual (unknowns) and Jacobian (entries of the pattern) at x. With
  /// `state` junctions are linearised at limited voltages, which it keeps; without, at the voltages of x. Elements whose kind
  /// is not in `kinds` (bits by ElementKind) are left out, and outputs without kOutputs.
  static constexpr std::uint32_t kAllElements = ~0U, kOutputs = 1U << 31U;
  void evaluate(const std::vector<double>& x, const std::vector<double>& values,
                const std::vector<OutputAction>& actions, const Easing& easing, JunctionState* state,
                std::vector<double>& residual, std::vector<double>& jacobian, std::uint32_t kinds = kAllElements) const;

  /// Linear part of evaluate(), residual = r₀ + J x, once for all x. The evaluate() that takes it, with the same values, looks only at the
  /// nonlinear elements.
  struct Affine {
    std::vector<double> residual, jacobian;
  };
  void evaluate_affine(const std::vector<double>& values, const std::vector<OutputAction>& actions,
                       Affine& affine) const;
  void evaluate(const Affine& affine, const std::vector<double>& values, const std::vector<double>& x,
                JunctionState* state, std::vector<double>& residual, std::vector<double>& jacobian) const;

  /// State of the junctions at x.
  JunctionState junctions_at(const std::vector<double>& x) const;

 private:
  class StampPad;
  class Stamps;
  void build();
  void entries_of(const Element& element, int branch, std::vector<std::pair<int, int>>& entries) const;

  Netlist netlist_;
  std::vector<NodePair> outputs_;
  std::vector<int> branch_;
  std::vector<std::string> branch_names_;
  std::vector<std::size_t> first_entry_;  ///< first place in slots_ of an element, then of outputs, then of the
                                          ///< diagonal of nodes
  std::vector<int> slots_;                ///< entry of the pattern; one past the last for entries of ground
  SparsePattern pattern_;
  std::vector<std::size_t> bent_;  ///< nonlinear elements, with junctions and transistors
};

/// Kinds of elements whose currents belong to a part of the force; the currents of voltage sources are apart. Where
/// controlled sources set voltages or carry currents (`reciprocal` of NodeCoordinates is false) nothing is conservative.
constexpr std::uint32_t kinds_of_part(Part part, bool reciprocal) {
  constexpr std::uint32_t conservative = kind_bit(ElementKind::resistor) | kind_bit(ElementKind::diode) |
                                         kind_bit(ElementKind::current) | kind_bit(ElementKind::curved_resistor);
  constexpr std::uint32_t rest = kind_bit(ElementKind::vccs) | kind_bit(ElementKind::mosfet) |
                                 kind_bit(ElementKind::formula_current) | kind_bit(ElementKind::bipolar);
  if (part == Part::all) return conservative | rest;
  if (part == Part::conservative) return reciprocal ? conservative : 0;
  return reciprocal ? rest : conservative | rest;
}

/// True, by output, if any of these independent sources can move its voltage. There must be a way of elements between nodes
/// that leads neither through ground nor through a node which a constant source holds against it. Capacitors lead nowhere at
/// direct current. The condition is necessary, not sufficient: contributions may still cancel at an output.
std::vector<bool> reached_outputs(const NodalEquations& equations, const std::vector<std::size_t>& sources);

}  // namespace nudge
