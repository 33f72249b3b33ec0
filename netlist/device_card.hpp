// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "netlist/element_card.hpp"
#include "sim/base/units.hpp"

namespace nudge {

/// Temperature of a device and of its model, and how its saturation currents follow (ngspice manual, "Temperature effects").
struct Heat {
  double celsius, nominal_C;
  double ratio() const { return (celsius + zero_celsius_K) / (nominal_C + zero_celsius_K); }
  double thermal_V() const { return thermal_voltage_V(celsius); }
  /// Potential of a junction that has VJ at the nominal temperature, as ngspice 39 has it (after Varshni's gap of silicon).
  double potential(double nominal_V) const {
    constexpr double kReference_K = 300.15, kReferenceGap_V = 1.1150877;
    const auto shift_V = [](double kelvin) {
      const double gap = 1.16 - 7.02e-4 * kelvin * kelvin / (kelvin + 1108),
                   thermal = kSpiceThermal_V * kelvin / kReference_K;
      const double rest = (kReferenceGap_V * kelvin / kReference_K - gap) / (2 * thermal);
      return -2 * thermal * (1.5 * std::log(kelvin / kReference_K) + rest);
    };
    const double from = nominal_C + zero_celsius_K, to = celsius + zero_celsius_K;
    return shift_V(to) + (nominal_V - shift_V(from)) * to / from;
  }
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

  /// Reads settings, among them temp= and dtemp=, which all devices have.
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
  void capacitance(int plus, int minus, double farad, const char* name) {
    if (!(farad > 0) || plus == minus) return;
    Element capacitor = part(name, ElementKind::capacitor, farad);
    capacitor.nodes = {plus, minus};
    of_.context.add(std::move(capacitor));
  }
  void capacitance(int plus, int minus, const JunctionCharge& charge, const char* name) {
    if (charge.farads(0) > 0) capacitance({plus, minus}, charge, name);
  }
  /// Adds a capacitance whose charge follows voltages (Element::nodes).
  void capacitance(std::vector<int> nodes, const ChargeLaw& charge, const char* name) {
    if (nodes[0] == nodes[1]) return;
    Element capacitor = part(name, ElementKind::capacitor, 0);
    capacitor.nodes = std::move(nodes);
    capacitor.charge = std::make_shared<const ChargeLaw>(charge);
    const std::vector<double> rest(
        static_cast<std::size_t>(1 + *std::max_element(capacitor.nodes.begin(), capacitor.nodes.end())), 0.0);
    capacitor.value = farads_at(capacitor, rest.data());
    of_.context.add(std::move(capacitor));
  }

  /// Adds a current from one node to another that is a formula of the voltage between them.
  void current(int plus, int minus, Formula formula, const char* name) {
    Element made = part(name, ElementKind::formula_current, 0);
    made.nodes = {plus, minus, plus, minus};
    made.formula = std::make_shared<const FormulaLaw>(FormulaLaw{std::move(formula), {0}});
    of_.context.add(std::move(made));
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

}  // namespace nudge
