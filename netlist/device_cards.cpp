// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "netlist/element_card.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

/// Temperature of a device and of its model, and how its saturation currents follow (ngspice manual, "Temperature effects").
struct Heat {
  double celsius, nominal_C;
  double ratio() const { return (celsius + zero_celsius_K) / (nominal_C + zero_celsius_K); }
  double thermal_V() const { return thermal_voltage_V(celsius); }
  /// Factor of a saturation current, (T/T₀)^(XTI/N) exp((T/T₀ − 1) EG/(N k T/q)).
  double saturation(const ModelCard& model, double emission) const {
    if (celsius == nominal_C) return 1;
    const double power = std::pow(ratio(), model.at("xti", 3) / emission);
    return power * std::exp((ratio() - 1) * model.at("eg", 1.11) / (emission * thermal_V()));
  }
};

/// Card of a device with a model.
class DeviceCard {
 public:
  /// Reads the model, a word of the card, of one of these `types`, which `must` names.
  DeviceCard(ElementCard& of, ElementKind kind, std::size_t model_at, const char* form,
             std::initializer_list<std::string_view> types, const char* must)
      : of_(of), form_(form) {
    of.element.kind = kind;
    if (of.card.size() <= model_at) of.fail(model_at, fmt::format("its model is missing: {}", form));
    model_ = &of.context.model(of.card[model_at]);
    if (std::find(types.begin(), types.end(), model_->type) == types.end()) {
      of.fail(model_at, fmt::format("its model {} is {} (must be {})", of.card[model_at].raw, model_->type, must));
    }
    const ElementOptions& options = of.context.options;
    heat_ = {options.celsius, model_->at("tnom", options.nominal_C)};
  }

  const ModelCard& model() const { return *model_; }
  const Heat& heat() const { return heat_; }

  /// Reads settings; temp= and dtemp= are those of all devices.
  void settings(std::size_t from, const ElementCard::Take& take) {
    of_.settings(from, form_, [&](const Assignment& one) {
      const bool own = one.name.text == "temp", added = one.name.text == "dtemp";
      if (!own && !added) return take(one);
      const double base = added ? of_.context.options.celsius : 0;
      heat_.celsius = above_zero_kelvin(base + of_.number(one.value), one.value.place);
      return true;
    });
  }

  /// Reads a diode's or bipolar transistor's area at a word, or by area=; the count of elements in parallel is part of it.
  double area_at(std::size_t at) {
    const ElementCard& of = of_;
    const bool plain = of.card.size() > at && !assigns(of.card, at) && of.card[at].text != "off";
    double area = plain ? of.number(of.card[at]) : 1;
    settings(plain ? at + 1 : at, [&](const Assignment& one) {
      if (one.name.text == "area") area = of.number(one.value);
      return one.name.text == "area" || one.name.text == "pj";
    });
    if (!(area > 0)) of.fail(at, fmt::format("area = {:g} (must be > 0)", area));
    return area * of.parallel();
  }

  /// Puts a resistance between a node of the element and a new one, which the element then has.
  void resistance(std::size_t node, double ohm, const char* name, const char* inner) {
    if (!(ohm > 0)) return;
    Element resistor = part(name, ElementKind::resistor, ohm);
    int& own = of_.element.nodes[node];
    resistor.nodes = {own, of_.context.new_node(of_.element.name + inner)};
    own = resistor.nodes[1];
    of_.context.add(std::move(resistor));
  }
  /// Adds a capacitance between two nodes, which may be a junction's.
  void capacitance(int plus, int minus, double farad, const char* name,
                   std::shared_ptr<const JunctionCharge> charge = nullptr) {
    if (!(farad > 0) || plus == minus) return;
    Element capacitor = part(name, ElementKind::capacitor, farad);
    capacitor.nodes = {plus, minus};
    capacitor.charge = std::move(charge);
    of_.context.add(std::move(capacitor));
  }
  void capacitance(int plus, int minus, const JunctionCharge& charge, const char* name) {
    capacitance(plus, minus, charge.farads(0), name, std::make_shared<const JunctionCharge>(charge));
  }

  /// Refuses a junction whose saturation current vanishes, or whose current or slope overflows at some voltage.
  void require_finite(const JunctionLaw& law) const {
    constexpr double kBeyond = 1e3;  // exponents, where the law goes on as its tangent
    const CurrentSlope on = law.at(kBeyond * law.thermal_V), off = law.at(-law.breakdown_V - kBeyond * law.reverse_V);
    const bool finite = std::isfinite(on.current) && std::isfinite(on.slope) && std::isfinite(off.current) &&
                        std::isfinite(off.slope) && law.saturation_A > 0;
    if (finite) return;
    of_.fail(0, fmt::format("a saturation current of {:g} A at {:g} °C is outside the range of numbers",
                            law.saturation_A, heat_.celsius));
  }

  /// Factor on KF |I|^AF of n junctions in parallel that share the current I: n |I/n|^AF.
  double shared_flicker() const { return model_->at("kf", 0) * std::pow(of_.parallel(), 1 - model_->at("af", 1)); }

 private:
  Element part(const char* name, ElementKind kind, double value) const {
    Element made;
    made.name = of_.element.name + name;
    made.place = of_.element.place;
    made.kind = kind;
    made.value = value;
    return made;
  }

  ElementCard& of_;
  const char* form_;
  const ModelCard* model_ = nullptr;
  Heat heat_ = {};
};

/// Voltage V_b at which the law of breakdown begins: exp((BV − V_b)/V_r) = IBV/IS + 1 − V_b/V_r, as ngspice 39 has it. An IBV below
/// IS BV/V_r counts as that, and V_b is BV then. The left side less the right falls convexly towards BV, so that Newton's steps from
/// where it is above 0 never pass the root.
double breakdown_start(double breakdown_V, double current_ratio, double width_V) {
  if (current_ratio < breakdown_V / width_V) return breakdown_V;
  constexpr int kSteps = 50;
  double x = breakdown_V - width_V * std::log1p(current_ratio);
  for (int k = 0; k < kSteps && x > 0; ++k) {
    const double grown = std::exp((breakdown_V - x) / width_V);
    const double step = width_V * (grown - current_ratio - 1 + x / width_V) / (grown - 1);
    x += step;
    if (!(step > 1e-15 * breakdown_V)) break;  // rounding
  }
  return x;
}

/// Beyond BV the law of ngspice 39: some −IBV flows at −BV, whatever the area. `parallel` diodes have as many.
void set_breakdown(const ModelCard& model, double parallel, double thermal_V, JunctionLaw& law) {
  const double breakdown = model.at("bv", 0);
  if (!(breakdown > 0)) return;
  law.reverse_V = model.at("nbv", model.at("n", 1)) * thermal_V;
  law.breakdown_V = breakdown_start(breakdown, model.at("ibv", 1e-3) * parallel / law.saturation_A, law.reverse_V);
}

}  // namespace

void read_diode(ElementCard& of) {
  Element& e = of.element;
  const char* form = "Dname anode cathode MODEL [AREA] [m= area= temp= dtemp=]";
  of.nodes(2, form);
  DeviceCard card(of, ElementKind::diode, 3, form, {"d"}, "D");
  const ModelCard& model = card.model();
  const double area = card.area_at(4), emission = model.at("n", 1);
  JunctionLaw& law = e.junction;
  law.saturation_A = area * model.at("is", model.at("js", 1e-14)) * card.heat().saturation(model, emission);
  law.thermal_V = emission * card.heat().thermal_V();
  law.knee_A = area * model.at("ikf", model.at("ik", 0));
  set_breakdown(model, of.parallel(), card.heat().thermal_V(), law);
  if (model.at("bv", 0) > 0 && !(law.breakdown_V > 0))
    of.fail(3, fmt::format("bv = {:g} with these ibv and is breaks down at rest", model.at("bv", 0)));
  card.require_finite(law);
  e.flicker = {card.shared_flicker(), model.at("af", 1)};
  card.resistance(0, model.at("rs", 0) / area, "#rs", "#internal");
  card.capacitance(e.nodes[0], e.nodes[1],
                   {area * model.at("cjo", model.at("cj0", 0)), model.at("vj", 1), model.at("m", 0.5),
                    model.at("fc", 0.5), model.at("tt", 0), law},
                   "#cj");
  of.add();
}

namespace {

/// Geometry of a transistor.
struct Geometry {
  double width_m, length_m;
  double drain_m2 = 0, source_m2 = 0, drain_edge_m = 0, source_edge_m = 0;
};

Geometry read_geometry(ElementCard& of, DeviceCard& card) {
  const ElementOptions& options = of.context.options;  // as ngspice has it, scale is no factor on its defaults
  const ModelCard& model = card.model();
  Geometry g{model.values.count("w") > 0 ? model.at("w", 0) * options.scale : options.width_m,
             model.values.count("l") > 0 ? model.at("l", 0) * options.scale : options.length_m};
  const double square = options.scale * options.scale;
  card.settings(6, [&](const Assignment& one) {
    const std::string& name = one.name.text;
    const double value = of.number(one.value);
    if (name == "w") g.width_m = value * options.scale;
    if (name == "l") g.length_m = value * options.scale;
    if (name == "ad") g.drain_m2 = value * square;
    if (name == "as") g.source_m2 = value * square;
    if (name == "pd") g.drain_edge_m = value * options.scale;
    if (name == "ps") g.source_edge_m = value * options.scale;
    if ((name == "w" || name == "l") && !(value > 0))
      refuse(one.value.place, fmt::format("{}: {} (must be > 0)", of.card.front().raw, name));
    // Squares of resistance count with RSH, which is not simulated.
    return name == "w" || name == "l" || name == "ad" || name == "as" || name == "pd" || name == "ps" ||
           name == "nrd" || name == "nrs" || name == "nf";  // fingers of xschem: W is that of all
  });
  return g;
}

/// Adds the overlaps of the gate and the charges of the bulk's junctions.
void add_charges(ElementCard& of, DeviceCard& card, const Geometry& g) {
  const ModelCard& model = card.model();
  const std::vector<int> at = of.element.nodes;
  const double n = of.parallel();
  card.capacitance(at[1], at[2], n * g.width_m * model.at("cgso", 0), "#cgs");
  card.capacitance(at[1], at[0], n * g.width_m * model.at("cgdo", 0), "#cgd");
  card.capacitance(at[1], at[3], n * g.length_m * model.at("cgbo", 0), "#cgb");
  const JunctionLaw& body = of.element.mosfet.body;
  const auto junction = [&](int to, double farad, const char* grading, const char* name) {
    const JunctionCharge charge{n * farad, model.at("pb", 0.8), model.at(grading, 0.5), model.at("fc", 0.5), 0, body};
    const bool n_type = of.element.mosfet.sign > 0;
    card.capacitance(n_type ? at[3] : to, n_type ? to : at[3], charge, name);
  };
  const auto bottom = [&](const char* whole, double m2) { return model.at(whole, model.at("cj", 0) * m2); };
  junction(at[0], bottom("cbd", g.drain_m2), "mj", "#cbd");
  junction(at[2], bottom("cbs", g.source_m2), "mj", "#cbs");
  junction(at[0], model.at("cjsw", 0) * g.drain_edge_m, "mjsw", "#cbdsw");
  junction(at[2], model.at("cjsw", 0) * g.source_edge_m, "mjsw", "#cbssw");
}

}  // namespace

void read_mosfet(ElementCard& of) {
  Element& e = of.element;
  const char* form = "Mname drain gate source bulk MODEL [W=… L=… m=…]";
  of.nodes(4, form);
  DeviceCard card(of, ElementKind::mosfet, 5, form, {"nmos", "pmos"}, "NMOS or PMOS");
  const ModelCard& model = card.model();
  const Geometry g = read_geometry(of, card);
  const ElementOptions& options = of.context.options;
  if (card.heat().celsius != options.nominal_C) {
    of.fail(0, fmt::format("temp = {:g} and tnom = {:g} must be one temperature: models of transistors M are not taken "
                           "from one to another",
                           card.heat().celsius, options.nominal_C));
  }
  MosfetLaw& law = e.mosfet;
  law.sign = model.type == "pmos" ? -1 : 1;
  law.threshold_V = model.at("vto", model.at("vt0", 0));
  law.beta_A_per_V2 = model.at("kp", 2e-5) * g.width_m / g.length_m * of.parallel();
  law.modulation_per_V = model.at("lambda", 0);
  law.body_factor = model.at("gamma", 0);
  law.surface_V = model.at("phi", 0.6);
  law.ekv = model.at("level", 1) == kEkvLevel;
  law.thermal_V = options.thermal_V();
  if (law.ekv && law.modulation_per_V != 0)
    refuse(model.place, fmt::format("lambda with level = {}: the long channel has none (must be 0)", kEkvLevel));
  if (model.values.count("tox") > 0 && model.values.count("kp") == 0)
    refuse(model.place, "tox without kp: a transconductance that follows from the oxide is not simulated (give kp)");
  e.flicker = {card.shared_flicker() / gate_F2(g.width_m, g.length_m, model.at("tox", kDefaultOxide_m)),
               model.at("af", 1)};
  law.body.saturation_A = model.at("is", 1e-14) * of.parallel();
  law.body.thermal_V = model.at("n", 1) * options.thermal_V();
  card.require_finite(law.body);
  card.resistance(0, model.at("rd", 0) / of.parallel(), "#rd", "#drain");
  card.resistance(2, model.at("rs", 0) / of.parallel(), "#rs", "#source");
  add_charges(of, card, g);
  of.add();
}

namespace {

double inverse(double value) { return value > 0 ? 1 / value : 0; }

BipolarLaw bipolar_law(const ModelCard& model, const Heat& heat, double area) {
  BipolarLaw law;
  law.sign = model.type == "pnp" ? -1 : 1;
  const double thermal = heat.thermal_V(), grown = heat.saturation(model, 1);
  const double gain = std::pow(heat.ratio(), model.at("xtb", 0)), saturation = area * model.at("is", 1e-16) * grown;
  law.forward_gain = model.at("bf", 100) * gain;
  law.reverse_gain = model.at("br", 1) * gain;
  law.early_per_V = inverse(model.at("vaf", model.at("va", 0)));
  law.reverse_early_per_V = inverse(model.at("var", model.at("vb", 0)));
  law.knee_per_A = inverse(area * model.at("ikf", model.at("ik", 0)));
  law.reverse_knee_per_A = inverse(area * model.at("ikr", 0));
  law.forward = {saturation, model.at("nf", 1) * thermal};
  law.reverse = {saturation, model.at("nr", 1) * thermal};
  const double ne = model.at("ne", 1.5), nc = model.at("nc", 2);
  law.emitter_leak = {area * model.at("ise", 0) * std::pow(grown, 1 / ne) / gain, ne * thermal};
  law.collector_leak = {area * model.at("isc", 0) * std::pow(grown, 1 / nc) / gain, nc * thermal};
  return law;
}

}  // namespace

void read_bipolar(ElementCard& of) {
  Element& e = of.element;
  const char* form = "Qname collector base emitter [substrate] MODEL [AREA] [m= area= temp= dtemp=]";
  of.nodes(3, form);
  const bool substrate = of.card.size() > 5 && !assigns(of.card, 5) && !of.context.has_model(of.card[4]);
  const std::size_t at = substrate ? 5 : 4;
  if (substrate) static_cast<void>(of.context.node(of.card[4]));
  DeviceCard card(of, ElementKind::bipolar, at, form, {"npn", "pnp"}, "NPN or PNP");
  const ModelCard& model = card.model();
  const double area = card.area_at(at + 1);
  const auto law = std::make_shared<const BipolarLaw>(bipolar_law(model, card.heat(), area));
  e.bipolar = law;
  for (const JunctionLaw* one : {&law->forward, &law->reverse, &law->emitter_leak, &law->collector_leak}) {
    const bool leak = one == &law->emitter_leak || one == &law->collector_leak;
    if (!leak || one->saturation_A != 0) card.require_finite(*one);
  }
  if (!std::isfinite(law->forward_gain * law->reverse_gain) || !(law->forward_gain * law->reverse_gain > 0))
    of.fail(at, "its gain is outside the range of numbers");
  if (model.values.count("rbm") > 0 && model.at("rbm", 0) != model.at("rb", 0))
    refuse(model.place, "rbm: a base resistance that falls with the current is not simulated (must be rb)");
  card.resistance(0, model.at("rc", 0) / area, "#rc", "#collector");
  card.resistance(1, model.at("rb", 0) / area, "#rb", "#base");
  card.resistance(2, model.at("re", 0) / area, "#re", "#emitter");
  const bool npn = law->sign > 0;
  const auto charge = [&](int other, double farad, double potential, double grading, const char* name) {
    const JunctionCharge made{area * farad, potential, grading, model.at("fc", 0.5)};
    card.capacitance(npn ? e.nodes[1] : other, npn ? other : e.nodes[1], made, name);
  };
  charge(e.nodes[2], model.at("cje", 0), model.at("vje", 0.75), model.at("mje", 0.33), "#cje");
  charge(e.nodes[0], model.at("cjc", 0), model.at("vjc", 0.75), model.at("mjc", 0.33), "#cjc");
  of.add();
}

}  // namespace nudge
