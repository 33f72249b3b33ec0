// SPDX-License-Identifier: Apache-2.0
#include "netlist/branch_states.hpp"

#include <map>
#include <utility>

namespace nudge {
namespace {

constexpr double kUnit_S = 1;

/// Takes the currents of branches into nodes.
class BranchStates {
 public:
  explicit BranchStates(Netlist netlist) : netlist_(std::move(netlist)) {}

  Netlist run() {
    const std::size_t drawn = netlist_.elements.size();
    for (std::size_t k = 0; k < drawn; ++k) {
      if (netlist_.elements[k].formula) take_currents(k);
      if (netlist_.elements[k].kind == ElementKind::formula_voltage) by_expression(k);
      if (netlist_.elements[k].kind == ElementKind::ccvs) by_current(k);
    }
    return std::move(netlist_);
  }

 private:
  int new_node(const std::string& name) {
    netlist_.nodes.push_back(name);
    return static_cast<int>(netlist_.nodes.size()) - 1;
  }

  Element controlled(const Element& of, const char* name, std::vector<int> nodes, double gain) const {
    Element made;
    made.kind = ElementKind::vccs;
    made.name = of.name + name;
    made.place = of.place;
    made.nodes = std::move(nodes);
    made.value = gain;
    return made;
  }

  /// Node of the current from a to b, into which v_a − v_b flows; `leaving` is the element that the current leaves by.
  int current_node(const Element& of, int a, int b, Element& leaving) {
    const int node = new_node(of.name + "#u");
    leaving = controlled(of, "", {a, b, node, kGround}, kUnit_S);
    netlist_.elements.push_back(controlled(of, "#g", {kGround, node, a, b}, kUnit_S));
    return node;
  }

  /// Node of the current of a voltage source.
  int sensed(int source) {
    const auto [found, fresh] = sensed_.emplace(source, kGround);
    if (!fresh) return found->second;
    const Element of = netlist_.elements[static_cast<std::size_t>(source)];
    const int middle = new_node(of.name + "#m");
    Element leaving;
    found->second = current_node(of, middle, of.nodes[1], leaving);
    leaving.name += "#s";
    netlist_.elements.push_back(std::move(leaving));
    netlist_.elements[static_cast<std::size_t>(source)].nodes[1] = middle;
    return found->second;
  }

  /// Gives a formula the voltages of nodes for the currents of sources.
  void take_currents(std::size_t k) {
    if (netlist_.elements[k].sources.empty()) return;
    FormulaLaw law = *netlist_.elements[k].formula;
    std::vector<int> nodes = netlist_.elements[k].nodes;
    for (int& input : law.inputs) {
      if (input >= 0) continue;
      const int node = sensed(netlist_.elements[k].sources[static_cast<std::size_t>(-1 - input)]);
      input = static_cast<int>(nodes.size()) / 2 - 1;
      nodes.insert(nodes.end(), {node, kGround});
    }
    Element& e = netlist_.elements[k];
    e.nodes = std::move(nodes);
    e.sources.clear();
    e.formula = std::make_shared<const FormulaLaw>(std::move(law));
  }

  void by_expression(std::size_t k) {
    Element formula = netlist_.elements[k], leaving;
    const int node = current_node(formula, formula.nodes[0], formula.nodes[1], leaving);
    formula.kind = ElementKind::formula_current;
    formula.name += "#f";
    formula.nodes[0] = node;
    formula.nodes[1] = kGround;
    netlist_.elements[k] = std::move(leaving);
    netlist_.elements.push_back(std::move(formula));
  }

  void by_current(std::size_t k) {
    const Element source = netlist_.elements[k];
    const int control = sensed(source.control);
    Element leaving;
    const int node = current_node(source, source.nodes[0], source.nodes[1], leaving);
    netlist_.elements[k] = std::move(leaving);
    netlist_.elements.push_back(controlled(source, "#f", {node, kGround, control, kGround}, kUnit_S * source.value));
  }

  Netlist netlist_;
  std::map<int, int> sensed_;  ///< nodes of currents, by their source
};

}  // namespace

const Element* first_branch_state(const Netlist& netlist) {
  for (const Element& e : netlist.elements) {
    if (e.kind == ElementKind::ccvs || e.kind == ElementKind::formula_voltage || !e.sources.empty()) return &e;
  }
  return nullptr;
}

Netlist with_branch_states(Netlist netlist) { return BranchStates(std::move(netlist)).run(); }

}  // namespace nudge
