// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <tuple>

#include "netlist/device_card.hpp"

namespace nudge {
namespace {

/// Geometry of a transistor.
struct Geometry {
  double width_m, length_m;
  double drain_m2 = 0, source_m2 = 0, drain_edge_m = 0, source_edge_m = 0;
  double drain_squares = 1, source_squares = 1;
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
    if (name == "nrd" && value > 0) g.drain_squares = value;
    if (name == "nrs" && value > 0) g.source_squares = value;
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
  const MosfetLaw& law = of.element.mosfet;
  if (const double oxide_m = model.at("tox", 0); oxide_m > 0 && !law.ekv) {
    const double farad = n * g.width_m * g.length_m * kOxide_F_per_m / oxide_m;
    using Plate = GateCharge::Plate;
    for (const auto& [to, plate, name] :
         {std::tuple(at[2], Plate::source, "#gs"), std::tuple(at[0], Plate::drain, "#gd"),
          std::tuple(at[3], Plate::bulk, "#gb")})
      card.capacitance({at[1], to, at[1], to, at[0], at[1], at[2], at[3]}, GateCharge{law, farad, plate}, name);
  }
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
  const ModelCard model = with_process(card.model(), of.context.options.nominal_C);
  Geometry g = read_geometry(of, card);
  g.length_m -= 2 * model.at("ld", 0);
  if (!(g.length_m > 0)) of.fail(5, fmt::format("its channel of L - 2 LD = {:g} m (must be > 0)", g.length_m));
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
  e.flicker = {card.shared_flicker() / gate_F2(g.width_m, g.length_m, model.at("tox", kDefaultOxide_m)),
               model.at("af", 1)};
  law.body.saturation_A = model.at("is", 1e-14) * of.parallel();
  law.body.thermal_V = model.at("n", 1) * options.thermal_V();
  card.require_finite(law.body);
  const auto ohm = [&](const char* name, double squares) {
    const double given = model.at(name, 0);
    return (given > 0 ? given : model.at("rsh", 0) * squares) / of.parallel();
  };
  card.resistance(0, ohm("rd", g.drain_squares), "#rd", "#drain");
  card.resistance(2, ohm("rs", g.source_squares), "#rs", "#source");
  add_charges(of, card, g);
  of.add();
}

void read_jfet(ElementCard& of) {
  Element& e = of.element;
  const char* form = "Jname drain gate source MODEL [AREA] [m= area= temp= dtemp=]";
  of.nodes(3, form);
  DeviceCard card(of, ElementKind::mosfet, 4, form, {"njf", "pjf"}, "NJF or PJF");
  const ModelCard& model = card.model();
  const double area = card.area_at(5);
  if (card.heat().celsius != card.heat().nominal_C)
    of.fail(0, "its temperature and that of its model must be one: models of JFETs are not taken from one to another");
  // Shichman & Hodges, I = BETA V_ov² (1 + LAMBDA V_ds) in saturation: level 1 with KP/2 = BETA, whose bulk junctions are the gate's.
  MosfetLaw& law = e.mosfet;
  law.sign = model.type == "pjf" ? -1 : 1;
  law.threshold_V = law.sign * model.at("vto", model.at("vt0", -2));
  law.beta_A_per_V2 = 2 * model.at("beta", 1e-4) * area;
  law.modulation_per_V = model.at("lambda", 0);
  law.body.saturation_A = model.at("is", 1e-14) * area;
  law.body.thermal_V = model.at("n", 1) * card.heat().thermal_V();
  card.require_finite(law.body);
  if (model.at("b", 1) != 1) refuse(model.place, "b: a doping that tails off is not simulated (must be 1)");
  e.flicker = {card.shared_flicker(), model.at("af", 1)};
  card.resistance(0, model.at("rd", 0) / area, "#rd", "#drain");
  card.resistance(2, model.at("rs", 0) / area, "#rs", "#source");
  e.nodes.push_back(e.nodes[1]);
  const auto junction = [&](int to, const char* farad, const char* name) {
    const JunctionCharge charge{
        area * model.at(farad, 0), model.at("pb", 1), model.at("m", 0.5), model.at("fc", 0.5), 0, law.body};
    card.capacitance(law.sign > 0 ? e.nodes[1] : to, law.sign > 0 ? to : e.nodes[1], charge, name);
  };
  junction(e.nodes[0], "cgd", "#cbd");
  junction(e.nodes[2], "cgs", "#cbs");
  of.add();
}

}  // namespace nudge
