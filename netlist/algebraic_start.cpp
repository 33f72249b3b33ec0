// SPDX-License-Identifier: Apache-2.0
#include "netlist/algebraic_start.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "netlist/operating_point.hpp"

namespace nudge {
namespace {

std::vector<int> nodes_with_capacitance(const ReducedMatrices& matrices) {
  std::set<int> all;
  for (const ReducedMatrices::Between& one : matrices.between) {
    if (one.of == one.by && one.farad > 0) all.insert(one.of);
  }
  return {all.begin(), all.end()};
}

/// Netlist with a conductance and a current to ground at each of the nodes, as its last elements.
Netlist with_pins(Netlist netlist, const std::vector<int>& nodes) {
  for (const int node : nodes) {
    for (const ElementKind kind : {ElementKind::resistor, ElementKind::current}) {
      Element made;
      made.kind = kind;
      made.name = fmt::format("{}#pin{}", kind == ElementKind::resistor ? 'r' : 'i', node);
      made.nodes = {node, kGround};
      made.value = kind == ElementKind::resistor ? 1 / AlgebraicStart::kPin_S : 0;
      netlist.elements.push_back(std::move(made));
    }
  }
  return netlist;
}

}  // namespace

AlgebraicStart::AlgebraicStart(const NodalEquations& equations, const ReducedMatrices& matrices)
    : AlgebraicStart(equations, nodes_with_capacitance(matrices)) {}

AlgebraicStart::AlgebraicStart(const NodalEquations& equations, std::vector<int> nodes)
    : pinned_(std::move(nodes)), equations_(with_pins(equations.netlist(), pinned_)) {}

bool AlgebraicStart::solve(std::vector<double> values, std::vector<double>& v) const {
  for (const int node : pinned_) {
    values.push_back(kPin_S);
    values.push_back(-kPin_S * v[static_cast<std::size_t>(node)]);
  }
  std::vector<double> x = v;
  x.resize(static_cast<std::size_t>(equations_.unknowns()), 0.0);
  if (OperatingPointSolver(equations_).solve(values, {}, x).status != Status::converged) return false;
  v.assign(x.begin(), x.begin() + equations_.nodes());
  return true;
}

}  // namespace nudge
