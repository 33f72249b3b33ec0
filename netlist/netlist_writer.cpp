// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "netlist/element_cards.hpp"
#include "netlist/netlist_file.hpp"

namespace nudge {
namespace {

constexpr double kWritten_m = 1e-6;  // W and L of transistors

/// Writes one netlist, card by card.
class CardWriter {
 public:
  explicit CardWriter(const Netlist& netlist) : netlist_(&netlist) {
    for (const Element& e : netlist.elements) {
      if (e.charge) charges_[e.name] = &e;
      if (e.kind == ElementKind::mosfet && e.mosfet.ekv) thermal_V_ = e.mosfet.thermal_V;
    }
  }

  std::string text(const std::string& note) {
    out_ = fmt::format("{}\n* {}\n", netlist_->title, note);
    for (const Element& e : netlist_->elements) {
      if (!e.charge) card(e);  // charges of junctions stand in their models
    }
    for (std::size_t k = 0; k < netlist_->couplings.size(); ++k) {
      const CoupledInductors& of = netlist_->couplings[k];
      out_ += fmt::format("k{} {} {} {}\n", k + 1, name_of(element(of.first)), name_of(element(of.second)), of.factor);
    }
    for (const auto& [law, name] : models_) out_ += fmt::format(".model {} {}\n", name, law);
    for (const auto& [node, volts] : netlist_->starts) {
      out_ += fmt::format(".nodeset v({})={}\n", netlist_->nodes[static_cast<std::size_t>(node)], volts);
    }
    for (const auto& [node, volts] : netlist_->held)
      out_ += fmt::format(".ic v({})={}\n", netlist_->nodes[static_cast<std::size_t>(node)], volts);
    out_ += fmt::format(".options gmin={}", netlist_->gmin_S);
    if (netlist_->shunt_S > 0) out_ += fmt::format(" rshunt={}", 1 / netlist_->shunt_S);
    if (thermal_V_ != kSpiceThermal_V) out_ += fmt::format(" temp={0} tnom={0}", celsius_of(thermal_V_));
    return out_ + "\n.end\n";
  }

 private:
  const Element& element(int number) const { return netlist_->elements[static_cast<std::size_t>(number)]; }
  /// Name of an element in the file; its first letter tells the kind.
  static std::string name_of(const Element& e) {
    static const char letters[] = {'r', 'c', 'v', 'i', 'd', 'e', 'g', 'f', 'h', 'm', 'b', 'b', 'l', 'q', 'b'};
    char letter = letters[static_cast<std::size_t>(e.kind)];
    if (e.formula && e.formula->switched)
      letter = e.formula->inputs[static_cast<std::size_t>(e.formula->switched->input)] < 0 ? 'w' : 's';
    const bool plain = e.name.front() == letter && e.name.find_first_of(".#") == std::string::npos;
    return plain ? e.name : fmt::format("{}_{}", letter, e.name);
  }
  std::string node_name(int node) const { return node < 0 ? "0" : netlist_->nodes[static_cast<std::size_t>(node)]; }
  std::string nodes_of(const Element& e) const {
    std::string text;
    std::vector<int> nodes = e.nodes;
    if (e.formula) nodes.resize(2);
    if (e.bipolar) nodes = {nodes[0], nodes.size() > 3 ? nodes[3] : nodes[1], nodes[2]};
    for (const int node : nodes) text += " " + node_name(node);
    return text;
  }
  /// " NAME=value", or nothing for a value that is the default.
  static std::string given(const char* name, double value, double otherwise = 0) {
    return value == otherwise ? "" : fmt::format(" {}={}", name, value);
  }
  static std::string flicker(double factor, double power) {
    return factor > 0 ? fmt::format(" KF={} AF={}", factor, power) : "";
  }
  const std::string& model(const std::string& law) {
    return models_.emplace(law, fmt::format("model{}", models_.size() + 1)).first->second;
  }
  /// Charge of an element's junction of that name; one without capacitance if there is none.
  const JunctionCharge& charge_of(const Element& e, const char* name) const {
    static const JunctionCharge none;
    const auto found = charges_.find(e.name + name);
    return found == charges_.end() ? none : std::get<JunctionCharge>(*found->second->charge);
  }
  /// Law of an element's charge of that name; null: it has none.
  template <class Law>
  const Law* law_of(const Element& e, const char* name) const {
    const auto found = charges_.find(e.name + name);
    return found == charges_.end() ? nullptr : std::get_if<Law>(found->second->charge.get());
  }
  double emission(const JunctionLaw& law) const { return law.thermal_V / thermal_V_; }

  std::string diode(const Element& e) const {
    const JunctionLaw& law = e.junction;
    const JunctionCharge& charge = charge_of(e, "#cj");
    std::string text = fmt::format("D(IS={} N={}", law.saturation_A, emission(law)) + given("IKF", law.knee_A);
    if (law.breakdown_V > 0)  // where IS flows
      text += fmt::format(" BV={} IBV={} NBV={}", law.breakdown_V, law.saturation_A, law.reverse_V / thermal_V_);
    text += given("CJO", charge.zero_bias_F) + given("VJ", charge.potential_V, 1) + given("M", charge.grading, 0.5) +
            given("FC", charge.corner, 0.5) + given("TT", charge.transit_s);
    return text + flicker(e.flicker.factor, e.flicker.power) + ")";
  }

  std::string mosfet(const Element& e) const {
    const MosfetLaw& law = e.mosfet;
    const JunctionCharge &drain = charge_of(e, "#cbd"), &source = charge_of(e, "#cbs");
    const JunctionCharge& bottom = drain.zero_bias_F > 0 ? drain : source;
    std::string text = fmt::format("{}(LEVEL={} VTO={} KP={} LAMBDA={} IS={} N={}", law.sign < 0 ? "PMOS" : "NMOS",
                                   law.ekv ? kEkvLevel : 1, law.threshold_V, law.beta_A_per_V2, law.modulation_per_V,
                                   law.body.saturation_A, emission(law.body));
    text += given("GAMMA", law.body_factor) + given("PHI", law.surface_V, 0.6);
    text += given("CBD", drain.zero_bias_F) + given("CBS", source.zero_bias_F);
    const JunctionCharge &edge = charge_of(e, "#cbdsw"), &other = charge_of(e, "#cbssw");
    const JunctionCharge& side = edge.zero_bias_F > 0 ? edge : other;
    const double potential = bottom.zero_bias_F > 0 ? bottom.potential_V : side.potential_V;
    const double corner = bottom.zero_bias_F > 0 ? bottom.corner : side.corner;
    if (bottom.zero_bias_F > 0) text += given("MJ", bottom.grading, 0.5);
    if (side.zero_bias_F > 0) text += " CJSW=1" + given("MJSW", side.grading, 0.5);
    if (bottom.zero_bias_F > 0 || side.zero_bias_F > 0) text += given("PB", potential, 0.8) + given("FC", corner, 0.5);
    double oxide_m = kDefaultOxide_m;
    for (const char* name : {"#gs", "#gd", "#gb"}) {
      const auto* gate = law_of<GateCharge>(e, name);
      if (gate == nullptr) continue;
      oxide_m = kOxide_F_per_m * kWritten_m * kWritten_m / gate->oxide_F;
      text += fmt::format(" TOX={}", oxide_m);
      break;
    }
    return text + flicker(e.flicker.factor * gate_F2(kWritten_m, kWritten_m, oxide_m), e.flicker.power) + ")";
  }

  std::string bipolar(const Element& e) const {
    const BipolarLaw& law = *e.bipolar;
    const auto one_over = [](double x) { return x > 0 ? 1 / x : 0; };
    std::string text =
        fmt::format("{}(IS={} BF={} BR={} NF={} NR={}", law.sign < 0 ? "PNP" : "NPN", law.forward.saturation_A,
                    law.forward_gain, law.reverse_gain, emission(law.forward), emission(law.reverse));
    text += given("VAF", one_over(law.early_per_V)) + given("VAR", one_over(law.reverse_early_per_V)) +
            given("IKF", one_over(law.knee_per_A)) + given("IKR", one_over(law.reverse_knee_per_A));
    if (law.emitter_leak.saturation_A > 0)
      text += fmt::format(" ISE={} NE={}", law.emitter_leak.saturation_A, emission(law.emitter_leak));
    if (law.collector_leak.saturation_A > 0)
      text += fmt::format(" ISC={} NC={}", law.collector_leak.saturation_A, emission(law.collector_leak));
    if (law.spreads()) {
      text += fmt::format(" RB={} RBM={}", law.least_base_Ohm + law.spread_Ohm, law.least_base_Ohm);
      text += given("IRB", law.base_knee_A);
    }
    return text + base_charges(e) + flicker(e.flicker.factor, e.flicker.power) + ")";
  }

  std::string base_charges(const Element& e) const {
    const JunctionCharge &emitter = charge_of(e, "#cje"), &inner = charge_of(e, "#cjc"), &outer = charge_of(e, "#cjx");
    const JunctionCharge& collector = inner.zero_bias_F > 0 ? inner : outer;
    const double whole_F = inner.zero_bias_F + outer.zero_bias_F;
    std::string text;
    if (emitter.zero_bias_F > 0)
      text += fmt::format(" CJE={} VJE={} MJE={}", emitter.zero_bias_F, emitter.potential_V, emitter.grading);
    if (whole_F > 0) text += fmt::format(" CJC={} VJC={} MJC={}", whole_F, collector.potential_V, collector.grading);
    if (outer.zero_bias_F > 0) text += fmt::format(" XCJC={}", inner.zero_bias_F / whole_F);
    text +=
        given("FC", emitter.zero_bias_F > 0 ? emitter.corner : collector.corner, 0.5) + given("TR", inner.transit_s);
    const auto* transit = law_of<TransitCharge>(e, "#tf");
    if (transit == nullptr) return text;
    return text + fmt::format(" TF={}", transit->transit_s) + given("XTF", transit->growth) +
           given("VTF", transit->growth_per_V > 0 ? 1 / (1.44 * transit->growth_per_V) : 0) +
           given("ITF", transit->growth_A);
  }

  /// Control and model of a switch: of its voltage or current.
  std::string switched(const Element& e) {
    const SwitchLaw& law = *e.formula->switched;
    const int input = e.formula->inputs[static_cast<std::size_t>(law.input)];
    const double middle = (law.on_at + law.off_at) / 2 / law.scale, half = (law.on_at - law.off_at) / 2 / law.scale;
    const char letter = input < 0 ? 'I' : 'V';
    const std::string& name = model(fmt::format("{}({}T={} {}H={} RON={} ROFF={})", input < 0 ? "CSW" : "SW", letter,
                                                middle, letter, half, 1 / law.on_S, 1 / law.off_S));
    const std::string control = input < 0
                                    ? name_of(element(e.sources[static_cast<std::size_t>(-1 - input)]))
                                    : fmt::format("{} {}", node_name(e.nodes[static_cast<std::size_t>(2 + 2 * input)]),
                                                  node_name(e.nodes[static_cast<std::size_t>(3 + 2 * input)]));
    return fmt::format(" {} {}{}", control, name, law.on ? " ON" : "");
  }

  std::string formula(const Element& e) const {
    std::vector<std::string> names;
    for (const int input : e.formula->inputs) {
      if (input < 0) {
        names.push_back(fmt::format("i({})", name_of(element(e.sources[static_cast<std::size_t>(-1 - input)]))));
        continue;
      }
      const auto at = static_cast<std::size_t>(2 + 2 * input);
      names.push_back(fmt::format("v({},{})", node_name(e.nodes[at]), node_name(e.nodes[at + 1])));
      if (e.nodes[at + 1] == kGround) names.back() = fmt::format("v({})", node_name(e.nodes[at]));
    }
    return fmt::format(" {}={}", e.kind == ElementKind::formula_voltage ? 'v' : 'i', e.formula->formula.text(names));
  }

  void card(const Element& e) {
    const bool curved = e.kind == ElementKind::curved_resistor;
    if (e.memristor) out_ += fmt::format("* {}: a memristor, {}\n", curved ? e.name : name_of(e), e.memristor->name);
    if (curved) {
      out_ += e.memristor->curve->cards(e.name, node_name(e.nodes[0]), node_name(e.nodes[1]), 1 / e.value);
      return;
    }
    out_ += name_of(e) + nodes_of(e);
    switch (e.kind) {
      case ElementKind::diode: out_ += " " + model(diode(e)); break;
      case ElementKind::mosfet:
        out_ += fmt::format(" {} W=1u L=1u{}{}", model(mosfet(e)), given("PD", charge_of(e, "#cbdsw").zero_bias_F),
                            given("PS", charge_of(e, "#cbssw").zero_bias_F));
        break;
      case ElementKind::bipolar: out_ += " " + model(bipolar(e)); break;
      case ElementKind::formula_voltage:
      case ElementKind::formula_current: out_ += e.formula->switched ? switched(e) : formula(e); break;
      case ElementKind::cccs:
      case ElementKind::ccvs: out_ += fmt::format(" {} {}", name_of(element(e.control)), e.value); break;
      case ElementKind::voltage:
      case ElementKind::current:
        out_ += fmt::format(" DC {}", e.value);
        if (e.ac != 0) out_ += fmt::format(" AC {} {}", e.ac, e.ac_degrees);
        if (e.wave.kind != Waveform::Kind::none) out_ += " " + e.wave.text();
        break;
      default: out_ += fmt::format(" {}", e.value);
    }
    out_ += "\n";
  }

  const Netlist* netlist_;
  std::string out_;
  std::map<std::string, std::string> models_;      ///< names by their laws
  std::map<std::string, const Element*> charges_;  ///< capacitors of junctions, gates and bases, by their names
  double thermal_V_ = kSpiceThermal_V;             ///< kT/q of the file that is written
};

}  // namespace

std::string netlist_text(const Netlist& netlist, const std::string& note) { return CardWriter(netlist).text(note); }

}  // namespace nudge
