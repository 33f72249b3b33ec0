// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "netlist/bipolar_laws.hpp"
#include "netlist/conductor_law.hpp"
#include "netlist/element_laws.hpp"
#include "netlist/formula.hpp"
#include "netlist/transistor_laws.hpp"

namespace nudge {

/// Waveform of an independent source over time, as SPICE writes it (ngspice manual, "Independent sources"); t, TD, … in s, values in V or A:
///     PULSE(V1 V2 TD TR TF PW [PER])   V1 until TD, V2 in TR, for PW, V1 in TF; again after PER
///     SIN(VO VA [FREQ TD THETA PHASE]) VO + VA sin(2π FREQ (t − TD) + PHASE°) exp(−THETA (t − TD)) from TD on
///     EXP(V1 V2 TD1 TAU1 TD2 TAU2)     towards V2 from TD1 on, back towards V1 from TD2 on
///     PWL(T1 V1 T2 V2 …)               straight lines, constant before and behind
/// Values that SPICE takes from the step or the end of an analysis (FREQ, TR, TF, TAU, PW) count as missing: missing() names them.
struct Waveform {
  enum class Kind { none, pulse, sine, exponential, lines };
  Kind kind = Kind::none;
  std::vector<double> numbers;

  double at(double t) const;
  /// Slope d/dt of a waveform that is straight from one break to the next.
  double slope(double t) const;
  /// Adds the times within (0, stop) at which the slope jumps; false: there are more than `most`.
  bool breaks(double stop, std::size_t most, std::vector<double>& times) const;
  /// Values that it would take from an analysis, in words; empty: none.
  std::string missing() const;
  /// Waveform as SPICE writes it, "PULSE(0 1 …)".
  std::string text() const;

 private:
  double number(std::size_t i, double otherwise = 0) const { return i < numbers.size() ? numbers[i] : otherwise; }
  struct Line {
    double begin, value, slope;
  };
  Line line_at(double t) const;
};

/// Place of a word in a netlist.
struct Place {
  std::shared_ptr<const std::string> file;
  int line = 0, column = 0;
};

/// Place as text, "file:line:column".
std::string to_string(const Place& place);

enum class ElementKind {
  resistor,
  capacitor,
  voltage,
  current,
  diode,
  vcvs,
  vccs,
  cccs,
  ccvs,
  mosfet,
  formula_voltage,
  formula_current,
  inductor,
  bipolar,
  curved_resistor
};

/// Number of SPICE's node 0, ground.
inline constexpr int kGround = -1;

/// Switch whose control closes it from on_at on and opens it below off_at ≤ on_at. Between the two it keeps its state.
struct SwitchLaw {
  double on_at = 0, off_at = 0;  ///< VT ± VH in V, or IT ± IH in A
  double on_S = 1, off_S = 1e-12;
  bool on = false;   ///< state at the beginning, where the control lies between
  double scale = 1;  ///< share of the control that counts
  int input = 0;     ///< number of the control among FormulaLaw::inputs
};

/// Voltage or current of a source as a formula of the circuit: B sources, E and G with expressions, POLY, and switches.
struct FormulaLaw {
  Formula formula;
  std::vector<int>
      inputs;  ///< by variable: number k ≥ 0 of a pair of controlling nodes, nodes[2 + 2 k] and the next; or −1 − k, the
               ///< current of the source Element::sources[k]
  std::shared_ptr<const SwitchLaw> switched = {};  ///< switch, whose formula is its current at rest
};

/// Law of a capacitance that follows voltages.
using ChargeLaw = std::variant<JunctionCharge, GateCharge, TransitCharge>;

/// Device that a memristor of a netlist is: a resistor whose conductance its pulses move. The program that has devices makes it
/// (MemristorSource).
struct MemristorLaw {
  std::string name;      ///< device in words, "preset ecram"
  std::string settings;  ///< device in full; memristors of one kind have the same
  double min_S = 0, max_S = 0;
  double rest_S = 0;                               ///< conductance of a memristor whose card names none
  std::shared_ptr<const ConductorLaw> curve = {};  ///< current over voltage; null: a resistor
};

/// Element between nodes. Currents count from nodes[0] through the element to nodes[1], as in SPICE.
struct Element {
  ElementKind kind = ElementKind::resistor;
  std::string name;  ///< name in lower case, within instances "x1.x2.r3"
  std::vector<int>
      nodes;  ///< node numbers; of sources then their controlling pairs; mosfet: drain, gate, source, bulk; bipolar: collector,
  ///< base and emitter, those within its resistances, and the base outside if its resistance spreads. A capacitor
  ///< with the charge of a transistor has its plates, the pair of nodes whose voltage moves it, and the transistor's nodes
  double value = 0;      ///< Ohm (of a curved resistor 1/g), F, H, V, A; of controlled sources the gain, S or Ohm
  int control = -1;      ///< cccs, ccvs: number of the voltage source whose current controls
  JunctionLaw junction;  ///< diode
  MosfetLaw mosfet;
  FlickerLaw flicker;                              ///< diode, mosfet
  std::shared_ptr<const FormulaLaw> formula = {};  ///< formula_voltage, formula_current
  std::vector<int> sources = {};                   ///< numbers of the voltage sources whose currents a formula takes
  std::shared_ptr<const BipolarLaw> bipolar = {};  ///< bipolar
  std::shared_ptr<const MemristorLaw> memristor = {};  ///< resistor that is a memristor; the law of a curved one
  std::shared_ptr<const ChargeLaw> charge =
      {};                         ///< capacitor of a junction, gate or base; `value` is its capacitance at 0 V
  double ac = 0, ac_degrees = 0;  ///< amplitude and phase of an independent source in a small-signal analysis
  Waveform wave = {};             ///< waveform of an independent source over time, beside its value at direct current
  Place place;
};

/// True if the current through an element of this kind is an unknown of its own: a voltage source, independent or controlled, or an inductor.
constexpr bool has_branch(ElementKind kind) {
  return kind == ElementKind::voltage || kind == ElementKind::vcvs || kind == ElementKind::ccvs ||
         kind == ElementKind::formula_voltage || kind == ElementKind::inductor;
}

/// True of a resistor, straight or curved: its value is a resistance.
constexpr bool has_resistance(ElementKind kind) {
  return kind == ElementKind::resistor || kind == ElementKind::curved_resistor;
}

/// True if the current of an element of this kind is the slope of an energy of the voltage across it.
constexpr bool has_energy(ElementKind kind) {
  return has_resistance(kind) || kind == ElementKind::diode || kind == ElementKind::current;
}

/// Voltage across an element, from its first node to its second, at the voltages v of the nodes.
inline double across(const Element& e, const std::vector<double>& v) {
  const auto at = [&v](int node) { return node < 0 ? 0 : v[static_cast<std::size_t>(node)]; };
  return at(e.nodes[0]) - at(e.nodes[1]);
}

/// Capacitance of a capacitor at the voltages v of the nodes.
double farads_at(const Element& e, const double* v);
/// Pair of nodes whose voltage moves the charge of a capacitor.
inline std::pair<int, int> moved_by(const Element& e) {
  const std::size_t first = e.nodes.size() > 2 ? 2 : 0;
  return {e.nodes[first], e.nodes[first + 1]};
}

/// Switch over time: a resistor, number `element` of a netlist, that the voltage between two nodes switches (with_switch_states).
struct TimedSwitch {
  std::size_t element;
  int plus, minus;
  SwitchLaw law;
};

/// Two inductors that share flux, M = k √(L₁ L₂).
struct CoupledInductors {
  std::string name;
  int first, second;  ///< numbers of elements
  double factor;      ///< k, |k| ≤ 1
};

/// Circuit of a SPICE netlist, its instances of .subckt taken apart and its expressions evaluated. A diode with a series
/// resistance has a node of its own between the two, "NAME#internal", and a resistor "NAME#rs".
struct Netlist {
  std::string title;
  std::vector<std::string> nodes;  ///< names but ground's, in the order in which they appear
  std::vector<Element> elements;   ///< names are distinct
  double celsius = 27;             ///< temperature, temp of .options
  double shunt_S = 0;              ///< conductance from every node to ground, 1/rshunt of .options
  double gmin_S = 1e-12;           ///< conductance across every junction: default of SPICE (ngspice manual, .options)
  std::vector<std::pair<int, double>> starts;  ///< nodes and voltages of .nodeset and .ic
  std::vector<std::pair<int, double>> held;  ///< nodes and voltages of .ic, which hold until t = 0 of a course in time
  std::vector<CoupledInductors> couplings;
  std::vector<TimedSwitch> switches;               ///< only of with_switch_states()
  std::vector<std::vector<std::string>> analyses;  ///< words of the .tran, .ac and .noise cards
  std::vector<std::string> notes;  ///< sentences on what was left aside, or is read otherwise than by ngspice
};

/// First memristor of a netlist; null: it has none.
const Element* first_memristor(const Netlist& netlist);

/// Number of the node or element of that name, in any case; −1 if there is none. Ground is no node.
int find_node(const Netlist& netlist, const std::string& name);
int find_element(const Netlist& netlist, const std::string& name);

}  // namespace nudge
