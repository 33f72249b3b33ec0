// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "netlist/device_card.hpp"

namespace nudge {
namespace {

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

/// Current of recombination in a diode's junction, beside its law (ngspice 39, ISR and NR):
///     I = ISR (exp(V/(NR k T/q)) − 1) ((1 − V/VJ)² + 0.005)^(M/2)
/// Beyond some exponents, where the diode's own current is out of all bounds, the first factor stays.
Formula recombination(const ModelCard& model, const Heat& heat, double saturation_A, double thermal_V) {
  constexpr double kMostExponents = 40;
  Formula made;
  const auto apply = [&made](const FormulaFunction& function, const std::vector<Operand>& operands) {
    Operand out;
    static_cast<void>(made.apply(function, operands, out));  // short of its limit by far
    return out;
  };
  const auto join = [&](const char* symbol, const Operand& a, const Operand& b) {
    return apply(operator_of(symbol, true), {a, b});
  };
  const Operand volts = made.variable(0), steep = join("/", volts, thermal_V);
  const Operand grown =
      apply(*find_function("exp", true), {apply(*find_function("min", true), {steep, kMostExponents})});
  const Operand rest = join("-", 1.0, join("/", volts, heat.potential(model.at("vj", 1))));
  const Operand width = join("^", join("+", join("*", rest, rest), 0.005), model.at("m", 0.5) / 2);
  made.set_result(join("*", join("*", saturation_A, join("-", grown, 1.0)), width));
  return made;
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
  if (const double nr = model.at("nr", 2), isr = area * model.at("isr", 0); isr > 0) {
    const Heat& heat = card.heat();
    card.current(e.nodes[0], e.nodes[1],
                 recombination(model, heat, isr * heat.saturation(model, nr), nr * heat.thermal_V()), "#isr");
  }
  card.capacitance(e.nodes[0], e.nodes[1],
                   {area * model.at("cjo", model.at("cj0", 0)), model.at("vj", 1), model.at("m", 0.5),
                    model.at("fc", 0.5), model.at("tt", 0), law},
                   "#cj");
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
  const double base = model.at("rb", 0), least = model.at("rbm", base);
  law.spread_Ohm = std::max(base - least, 0.0) / area;
  if (law.spreads()) law.least_base_Ohm = least / area;
  law.base_knee_A = area * model.at("irb", 0);
  const double ne = model.at("ne", 1.5), nc = model.at("nc", 2);
  law.emitter_leak = {area * model.at("ise", 0) * std::pow(grown, 1 / ne) / gain, ne * thermal};
  law.collector_leak = {area * model.at("isc", 0) * std::pow(grown, 1 / nc) / gain, nc * thermal};
  return law;
}

/// Adds the charges of the junctions, of which the share 1 − XCJC of the collector's lies at the outer base, and of the carriers in the base.
void add_base_charges(const ModelCard& model, double area, int outer, const Element& e, DeviceCard& card) {
  const BipolarLaw& law = *e.bipolar;
  const int collector = e.nodes[0], base = e.nodes[1], emitter = e.nodes[2];
  const auto junction = [&](int from, int to, double farad, const char* potential, const char* grading,
                            double transit_s, const char* name) {
    const JunctionCharge made{
        area * farad, model.at(potential, 0.75), model.at(grading, 0.33), model.at("fc", 0.5), transit_s, law.reverse};
    card.capacitance(law.sign > 0 ? from : to, law.sign > 0 ? to : from, made, name);
  };
  const double farad = model.at("cjc", 0), inner = model.at("xcjc", 1);
  junction(base, emitter, model.at("cje", 0), "vje", "mje", 0, "#cje");
  junction(base, collector, farad * inner, "vjc", "mjc", model.at("tr", 0), "#cjc");
  junction(outer, collector, farad * (1 - inner), "vjc", "mjc", 0, "#cjx");
  if (!(model.at("tf", 0) > 0)) return;
  TransitCharge charge{law, model.at("tf", 0), model.at("xtf", 0), inverse(1.44 * model.at("vtf", 0)),
                       area * model.at("itf", 0)};
  card.capacitance({base, emitter, base, emitter, collector, base, emitter}, charge, "#tf");
  charge.by_collector = true;
  card.capacitance({base, emitter, base, collector, collector, base, emitter}, charge, "#tfc");
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
  e.flicker = {card.shared_flicker(), model.at("af", 1)};
  for (const JunctionLaw* one : {&law->forward, &law->reverse, &law->emitter_leak, &law->collector_leak}) {
    const bool leak = one == &law->emitter_leak || one == &law->collector_leak;
    if (!leak || one->saturation_A != 0) card.require_finite(*one);
  }
  if (!std::isfinite(law->forward_gain * law->reverse_gain) || !(law->forward_gain * law->reverse_gain > 0))
    of.fail(at, "its gain is outside the range of numbers");
  if (model.at("rbm", 0) > model.at("rb", 0))
    refuse(model.place, "rbm above rb (a base's resistance falls with its current)");
  const int outer = e.nodes[1];
  card.resistance(0, model.at("rc", 0) / area, "#rc", "#collector");
  if (law->spreads()) {
    e.nodes[1] = of.context.new_node(e.name + "#base");
  } else {
    card.resistance(1, model.at("rb", 0) / area, "#rb", "#base");
  }
  card.resistance(2, model.at("re", 0) / area, "#re", "#emitter");
  add_base_charges(model, area, outer, e, card);
  if (law->spreads()) e.nodes.push_back(outer);
  of.add();
}

}  // namespace nudge
