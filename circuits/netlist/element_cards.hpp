// SPDX-License-Identifier: Apache-2.0
// Private to circuits/netlist: cards of elements and of models.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "circuits/netlist/parameter_scope.hpp"

namespace nudge {

/// A .model card: its parameters are numbers of the scope that it stands in.
struct ModelCard {
  std::string type;  ///< "d", "nmos", "pmos"
  std::map<std::string, double> values;
  Place place;
};

/// The card ".model NAME TYPE (name=value …)". UserError for a type or a parameter that is not simulated.
ModelCard read_model(const Card& card, ParameterScope& scope);

/// What an element card is read with.
struct CardContext {
  ParameterScope& scope;
  std::function<int(const Word& name)> node;                ///< number of a node
  std::function<const ModelCard&(const Word& name)> model;  ///< UserError for an unknown one
  std::function<int(const std::string& name)> new_node;     ///< one that no card names
  std::function<void(Element element)> add;
  /// The voltage source that controls the element, a word to be looked up when all are known.
  std::function<void(const Word& source)> controlled_by;
  std::string prefix;  ///< of the instance, "x1."
  double thermal_V;    ///< kT/q
};

/// Adds the element of a card whose first letter says what it is, X excepted. UserError naming the place.
void read_element(const Card& card, const CardContext& context);

}  // namespace nudge
