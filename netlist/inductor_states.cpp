// SPDX-License-Identifier: Apache-2.0
#include "netlist/inductor_states.hpp"

#include <cmath>
#include <map>

namespace nudge {
namespace {

constexpr char kMark[] = "#i";

Element behind(const Element& inductor, const char* name, ElementKind kind, std::vector<int> nodes, double value) {
  Element made;
  made.name = inductor.name + name;
  made.place = inductor.place;
  made.kind = kind;
  made.nodes = std::move(nodes);
  made.value = value;
  return made;
}

}  // namespace

Netlist with_inductor_currents(Netlist netlist) {
  std::map<int, int> node_of;  // of inductors
  std::vector<Element> more;
  constexpr double kSquare = kGyrator_S * kGyrator_S;
  const std::vector<Element> drawn = netlist.elements;
  for (std::size_t k = 0; k < drawn.size(); ++k) {
    const Element& inductor = drawn[k];
    if (inductor.kind != ElementKind::inductor) continue;
    const int node = static_cast<int>(netlist.nodes.size()), a = inductor.nodes[0], b = inductor.nodes[1];
    netlist.nodes.push_back(inductor.name + kMark);
    node_of[static_cast<int>(k)] = node;
    netlist.elements[k] = behind(inductor, "", ElementKind::vccs, {a, b, node, kGround}, kGyrator_S);
    more.push_back(behind(inductor, "#g", ElementKind::vccs, {kGround, node, a, b}, kGyrator_S));
    more.push_back(behind(inductor, "#c", ElementKind::capacitor, {node, kGround}, kSquare * inductor.value));
  }
  for (std::size_t k = 0; k < netlist.couplings.size(); ++k) {
    const CoupledInductors& of = netlist.couplings[k];
    const Element &first = drawn[static_cast<std::size_t>(of.first)],
                  &second = drawn[static_cast<std::size_t>(of.second)];
    const double mutual = kSquare * of.factor * std::sqrt(first.value * second.value);
    const int i = node_of[of.first], j = node_of[of.second];
    const std::string name = "#k" + std::to_string(k);
    // The entries of M alone: −M between the nodes, and M from each to ground takes back what that adds to the diagonal.
    more.push_back(behind(first, (name + "m").c_str(), ElementKind::capacitor, {i, j}, -mutual));
    more.push_back(behind(first, (name + "a").c_str(), ElementKind::capacitor, {i, kGround}, mutual));
    more.push_back(behind(first, (name + "b").c_str(), ElementKind::capacitor, {j, kGround}, mutual));
  }
  netlist.couplings.clear();
  for (Element& e : more) netlist.elements.push_back(std::move(e));
  return netlist;
}

std::vector<std::pair<std::string, int>> inductor_nodes(const Netlist& netlist) {
  std::vector<std::pair<std::string, int>> all;
  for (std::size_t i = 0; i < netlist.nodes.size(); ++i) {
    const std::string& name = netlist.nodes[i];
    if (name.ends_with(kMark)) all.emplace_back(name.substr(0, name.size() - 2), static_cast<int>(i));
  }
  return all;
}

}  // namespace nudge
