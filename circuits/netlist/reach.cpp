// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/reach.hpp"

#include <algorithm>

namespace nudge {

std::vector<bool> reached_outputs(const NodalEquations& equations, const std::vector<std::size_t>& sources) {
  const std::vector<Element>& elements = equations.netlist().elements;
  const auto nodes = static_cast<std::size_t>(equations.nodes());
  const auto feeds = [&](std::size_t k) { return std::find(sources.begin(), sources.end(), k) != sources.end(); };
  std::vector<bool> held(nodes, false), reached(nodes, false);
  std::vector<std::vector<std::size_t>> of(nodes);  // elements at a node
  for (std::size_t k = 0; k < elements.size(); ++k) {
    const Element& e = elements[k];
    if (e.kind == ElementKind::capacitor || e.kind == ElementKind::current) continue;
    for (const int node : e.nodes) {
      if (node < 0) continue;
      of[static_cast<std::size_t>(node)].push_back(k);
      const bool grounded = std::find(e.nodes.begin(), e.nodes.end(), kGround) != e.nodes.end();
      if (e.kind == ElementKind::voltage && grounded && !feeds(k)) held[static_cast<std::size_t>(node)] = true;
    }
  }
  std::vector<std::size_t> open;
  const auto visit = [&](const Element& e) {
    for (const int node : e.nodes) {
      if (node < 0 || reached[static_cast<std::size_t>(node)] || held[static_cast<std::size_t>(node)]) continue;
      reached[static_cast<std::size_t>(node)] = true;
      open.push_back(static_cast<std::size_t>(node));
    }
  };
  const auto follow = [&](std::size_t k) {
    visit(elements[k]);
    for (const Element& e : elements) {  // whose current controls others
      const bool controls =
          e.control == static_cast<int>(k) && (e.kind == ElementKind::cccs || e.kind == ElementKind::ccvs);
      if (controls) visit(e);
    }
  };
  for (const std::size_t k : sources) follow(k);
  for (std::size_t i = 0; i < open.size(); ++i) {
    for (const std::size_t k : of[open[i]]) {
      elements[k].kind == ElementKind::voltage ? follow(k) : visit(elements[k]);
    }
  }
  std::vector<bool> all;
  const auto at = [&](int node) { return node >= 0 && reached[static_cast<std::size_t>(node)]; };
  for (const NodePair& output : equations.outputs()) all.push_back(at(output.plus) || at(output.minus));
  return all;
}

}  // namespace nudge
