// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/node_coordinates.hpp"

#include <algorithm>

namespace nudge {
namespace {

/// Calls act(element, number, drop, weight) for the elements that have an energy.
template <class Act>
void for_branches(const NodalEquations& equations, const NodeCoordinates& at, const std::vector<double>& v, Act act) {
  const std::vector<Element>& elements = equations.netlist().elements;
  for (std::size_t k = 0; k < elements.size(); ++k) {
    const Element& e = elements[k];
    if (has_energy(e.kind)) act(e, k, across(e, v), at.weight(k));
  }
}

}  // namespace

double netlist_energy_W(const NodalEquations& equations, const NodeCoordinates& at, const std::vector<double>& values,
                        const std::vector<double>& v) {
  const Netlist& netlist = equations.netlist();
  double sum = 0;
  for_branches(equations, at, v, [&](const Element& e, std::size_t k, double drop, double weight) {
    switch (e.kind) {
      case ElementKind::resistor: sum += weight * (0.5 * values[k] * drop * drop); break;
      case ElementKind::diode: sum += weight * (e.junction.energy(drop) + 0.5 * netlist.gmin_S * drop * drop); break;
      default: sum += weight * (values[k] * drop);
    }
  });
  for (int i = 0; i < equations.nodes(); ++i) {
    const double volts = v[static_cast<std::size_t>(i)];
    sum += at.shunt_weight(i) * (0.5 * netlist.shunt_S * volts * volts);
  }
  return sum;
}

void weighted_currents(const NodalEquations& equations, const NodeCoordinates& at, const std::vector<double>& values,
                       const std::vector<double>& v, std::vector<double>& out) {
  const Netlist& netlist = equations.netlist();
  std::fill(out.begin(), out.end(), 0.0);
  for_branches(equations, at, v, [&](const Element& e, std::size_t k, double drop, double weight) {
    double current = values[k];
    if (e.kind == ElementKind::resistor) current *= drop;
    if (e.kind == ElementKind::diode) current = e.junction.at(drop).current + netlist.gmin_S * drop;
    if (e.nodes[0] >= 0) out[static_cast<std::size_t>(e.nodes[0])] += weight * current;
    if (e.nodes[1] >= 0) out[static_cast<std::size_t>(e.nodes[1])] -= weight * current;
  });
  for (int i = 0; i < equations.nodes(); ++i) {
    out[static_cast<std::size_t>(i)] += at.shunt_weight(i) * netlist.shunt_S * v[static_cast<std::size_t>(i)];
  }
}

}  // namespace nudge
