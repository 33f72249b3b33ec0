// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "netlist/stamp_pad.hpp"

namespace nudge {

/// Adds the currents and slopes of elements, in the order of entries_of().
class NodalEquations::Stamps : public NodalEquations::StampPad {
 public:
  using StampPad::StampPad;

  void element(const Element& e, double value, int own, double sources) {
    if (e.kind == ElementKind::resistor) return branch(e.nodes[0], e.nodes[1], value * volts(e, 0), value);
    other(e, value, own, sources);
  }

  void output(const NodePair& at_nodes, int own, const OutputAction& action, double sources) {
    current(at_nodes.plus, at(own));
    current(at_nodes.minus, -at(own));
    const double between = at(at_nodes.plus) - at(at_nodes.minus), set = sources * action.value;
    current(own, action.held ? between - set : at(own) - action.load_S * between + set);
    for (const double value : {1.0, -1.0}) slope(value);
    const double by_volts = action.held ? 1.0 : -action.load_S;
    for (const double value : {by_volts, -by_volts}) slope(value);
    slope(action.held ? 0.0 : 1.0);
  }

 private:
  /// Adds any element but a resistor; apart, so that resistors pay nothing for the others.
  [[gnu::noinline]] void other(const Element& e, double value, int own, double sources) {
    const double gmin = owner_->netlist_.gmin_S;
    switch (e.kind) {
      case ElementKind::resistor: return;
      case ElementKind::curved_resistor: return curved(e, value);
      case ElementKind::diode: return junction(e.junction, 1, e.nodes[0], e.nodes[1], gmin);
      case ElementKind::mosfet: return mosfet(e, gmin);
      case ElementKind::bipolar: return bipolar(e, gmin);
      case ElementKind::formula_voltage: return formula_voltage(e, own, sources);
      case ElementKind::formula_current: return formula_current(e, sources);
      case ElementKind::capacitor: return;
      case ElementKind::current: return through(e, sources * value);
      case ElementKind::vccs:
        through(e, value * volts(e, 2));
        for (const double sign : {1.0, -1.0, -1.0, 1.0}) slope(sign * value);
        return;
      case ElementKind::cccs:
        through(e, value * controlling(e));
        for (const double sign : {1.0, -1.0}) slope(sign * value);
        return;
      case ElementKind::voltage:
      case ElementKind::inductor:
      case ElementKind::vcvs:
      case ElementKind::ccvs: return source(e, value, own, sources);
    }
  }

  /// Adds a source of voltage with its branch: V, E or H, or an inductor, which is a short.
  void source(const Element& e, double value, int own, double sources) {
    through(e, at(own));
    for (const double sign : {1.0, -1.0, 1.0, -1.0}) slope(sign);
    double set = e.kind == ElementKind::inductor ? 0 : sources * value;
    if (e.kind == ElementKind::vcvs) {
      set = value * volts(e, 2);
      slope(-value);
      slope(value);
    } else if (e.kind == ElementKind::ccvs) {
      set = value * controlling(e);
      slope(-value);
    }
    current(own, volts(e, 0) - set);
  }

  /// Adds a junction, from cathode to anode where its sign is −1.
  void junction(const JunctionLaw& law, double sign, int anode, int cathode, double gmin) {
    const double volts = sign * (at(anode) - at(cathode));
    const double where = state_ == nullptr ? volts : linearised(volts, law.limited(volts, last()));
    const CurrentSlope of = law.at(where);
    branch(anode, cathode, sign * (of.current + of.slope * (volts - where) + gmin * volts), of.slope + gmin);
  }

  void curved(const Element& e, double siemens) {
    const ConductorLaw& law = *e.memristor->curve;
    const double volts = this->volts(e, 0);
    const double where = state_ == nullptr ? volts : linearised(volts, law.limited(volts, last()));
    const ConductorLaw::Point of = law.at(siemens, where);
    if (state_ != nullptr && !(std::abs(of.by_volts) < kSteepest_S)) {
      held_back_without_bound();
      return branch(e.nodes[0], e.nodes[1], siemens * volts, siemens);
    }
    branch(e.nodes[0], e.nodes[1], of.current + of.by_volts * (volts - where), of.by_volts);
  }

  void mosfet(const Element& e, double gmin) {
    const int drain = e.nodes[0], gate = e.nodes[1], source = e.nodes[2], bulk = e.nodes[3];
    const double vgs = at(gate) - at(source), vds = at(drain) - at(source);
    const double gate_at = near(vgs), drain_at = near(vds);
    const MosfetLaw::Point of = e.mosfet.at(gate_at, drain_at, at(bulk) - at(source));
    const double i = of.current + of.by_gate * (vgs - gate_at) + of.by_drain * (vds - drain_at);
    current(drain, i);
    current(source, -i);
    for (const double sign : {1.0, -1.0}) {  // into the drain, out of the source
      slope(sign * of.by_gate);
      slope(sign * of.by_drain);
      slope(-sign * (of.by_gate + of.by_drain + of.by_bulk));
      slope(sign * of.by_bulk);
    }
    for (const int to : {source, drain}) junction(e.mosfet.body, e.mosfet.sign, bulk, to, gmin);
  }

  void bipolar(const Element& e, double gmin) {
    const BipolarLaw& law = *e.bipolar;
    const int collector = e.nodes[0], base = e.nodes[1], emitter = e.nodes[2];
    const double vbe = at(base) - at(emitter), vbc = at(base) - at(collector);
    const double be = steep(law.forward, law.sign, vbe), bc = steep(law.reverse, law.sign, vbc);
    const BipolarLaw::Point p = law.at(be, bc);
    const double into_collector = p.collector + p.collector_by_be * (vbe - be) + p.collector_by_bc * (vbc - bc);
    const double into_base = p.base + p.base_by_be * (vbe - be) + p.base_by_bc * (vbc - bc);
    current(collector, into_collector);
    current(base, into_base);
    current(emitter, -into_collector - into_base);
    const auto row = [this](double by_be, double by_bc) {  // by base, emitter and collector
      slope(by_be + by_bc);
      slope(-by_be);
      slope(-by_bc);
    };
    row(p.collector_by_be, p.collector_by_bc);
    row(p.base_by_be, p.base_by_bc);
    row(-p.collector_by_be - p.base_by_be, -p.collector_by_bc - p.base_by_bc);
    branch(base, emitter, gmin * vbe, gmin);
    branch(base, collector, gmin * vbc, gmin);
    if (law.spreads()) base_resistance(e, p, vbe - be, vbc - bc);
  }

  /// Adds the resistance between the base and the inner one, which the voltages of its junctions change; from the point of their
  /// linearisation the junctions are off by `be` and `bc`.
  void base_resistance(const Element& e, const BipolarLaw::Point& p, double be, double bc) {
    const int inner = e.nodes[1], outer = e.nodes[3];
    const double siemens = 1 / p.base_Ohm, volts = at(outer) - at(inner), by_ohm = -siemens * siemens * volts;
    const double by_be = by_ohm * p.base_Ohm_by_be, by_bc = by_ohm * p.base_Ohm_by_bc;
    const double amperes = siemens * volts + by_be * be + by_bc * bc;
    current(outer, amperes);
    current(inner, -amperes);
    for (const double sign : {1.0, -1.0}) {  // by the outer and inner base, emitter and collector
      slope(sign * siemens);
      slope(sign * (by_be + by_bc - siemens));
      slope(-sign * by_be);
      slope(-sign * by_bc);
    }
  }

  /// Voltage of a junction of a bipolar transistor that a step may reach.
  double steep(const JunctionLaw& law, double sign, double volts) {
    if (state_ == nullptr) return volts;
    return sign * linearised(sign * volts, law.limited(sign * volts, last()));
  }

  /// Computes a formula and its slopes by its inputs.
  double formula(const Element& e, double sources) {
    const FormulaLaw& law = *e.formula;
    inputs_.clear();
    for (const int input : law.inputs) {
      const auto [plus, minus] = owner_->input_unknowns(e, input);
      inputs_.push_back(at(plus) - at(minus));
    }
    slopes_.resize(inputs_.size());
    const double found = sources * law.formula.at(inputs_.data(), slopes_.data());
    for (double& one : slopes_) one *= sources;
    const bool finite = bounded(found) && std::all_of(slopes_.begin(), slopes_.end(), bounded);
    if (finite || state_ == nullptr) return found;
    // On the way to a solution, as ln(0) at the start: the others move its inputs first.
    std::fill(slopes_.begin(), slopes_.end(), 0.0);
    held_back_without_bound();
    return bounded(found) ? found : 0;
  }

  void formula_voltage(const Element& e, int own, double sources) {
    through(e, at(own));
    for (const double sign : {1.0, -1.0, 1.0, -1.0}) slope(sign);
    current(own, volts(e, 0) - formula(e, sources));
    for (const double by : slopes_) {
      slope(-by);
      slope(by);
    }
  }

  void formula_current(const Element& e, double sources) {
    through(e, formula(e, sources));
    for (const double by : slopes_) {
      for (const double sign : {1.0, -1.0, -1.0, 1.0}) slope(sign * by);
    }
  }

  std::vector<double> inputs_, slopes_;  ///< of a formula
};

}  // namespace nudge
