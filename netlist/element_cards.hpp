// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

#include "netlist/memristor_kinds.hpp"
#include "netlist/parameter_scope.hpp"

namespace nudge {

/// Model of a .model card: its parameters are numbers of the scope that it stands in.
struct ModelCard {
  std::string type;  ///< "d", "nmos", "npn", "sw", "memristor", …
  std::map<std::string, double> values;
  Place place;
  std::vector<DeviceSetting> device = {};  ///< memristor: what the card says of its device

  double at(const char* name, double otherwise) const {
    const auto found = values.find(name);
    return found == values.end() ? otherwise : found->second;
  }
};

/// Reads the card ".model NAME TYPE (name=value …)". UserError for a type or a parameter that is not simulated.
ModelCard read_model(const Card& card, ParameterScope& scope);

/// Computes KP, GAMMA, PHI and VTO of a level-1 transistor from UO, TOX, NSUB, NSS and TPG, as ngspice 39 does, where its card leaves them out.
/// Other models come back as they are.
ModelCard with_process(ModelCard model, double nominal_C);

/// Level of the EKV transistor (MosfetLaw). ngspice 39 has no model of this number.
inline constexpr int kEkvLevel = 26;

/// Thermal voltage kT/q at a temperature, and the temperature of one.
double thermal_voltage_V(double celsius);
double celsius_of(double thermal_V);
/// Returns a temperature in °C. UserError at its place unless it is finite and above 0 K.
double above_zero_kelvin(double celsius, const Place& place);

/// Options of a netlist that change its elements.
struct ElementOptions {
  double celsius = 27, nominal_C = 27;     ///< temp and tnom; defaults of SPICE
  double scale = 1;                        ///< factor on W and L of transistors
  double width_m = 1e-4, length_m = 1e-4;  ///< defw and defl; defaults of SPICE (ngspice manual, .options)

  double thermal_V() const { return thermal_voltage_V(celsius); }
};

/// Functions with which an element card is read.
struct CardContext {
  ParameterScope& scope;
  std::function<int(const Word& name)> node;                ///< number of a node
  std::function<const ModelCard&(const Word& name)> model;  ///< model of that name; UserError for an unknown one
  std::function<int(const std::string& name)> new_node;     ///< number of a new node that no card names
  std::function<void(Element element)> add;
  std::function<bool(const Word& name)> has_model;
  /// Sets a voltage source that controls the element, a word to be looked up when all sources are known: Element::control, or number k ≥ 0
  /// of Element::sources.
  std::function<void(const Word& source, int k)> controlled_by;
  std::string prefix;    ///< prefix of the instance, "x1."
  double instances = 1;  ///< instances in parallel, the product of m of all instances around it
  ElementOptions options;
  MemristorKinds& memristors;
};

/// Adds the element of a card; its first letter tells the kind, X excepted. UserError naming the place.
void read_element(const Card& card, const CardContext& context);

}  // namespace nudge
