// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/netlist_ports.hpp"

#include <cmath>
#include <numeric>

#include "sim/base/rng.hpp"

namespace nudge {
namespace {

/// Number of the twin among the groups of devices: behind all arrays.
constexpr std::uint32_t kTwin = 1U << 20U;

}  // namespace

double column_capacitance_F(const NetlistPorts& ports) {
  const std::vector<double>& all = ports.node_capacitance_F;
  if (all.empty()) return ports.siemens * ports.tau_s;
  return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}

std::vector<double> twin_factors(const NodalEquations& equations, const NetlistPorts& ports) {
  if (ports.twin_mismatch == 0) return {};
  const std::vector<Element>& elements = equations.netlist().elements;
  std::vector<double> drawn(elements.size()), factors(elements.size(), 1.0);
  fill_normal<double>({ports.seed, Purpose::device_to_device, kTwin}, 0, 0, drawn);
  for (const ElementRow& row : ports.learned) {
    for (const std::size_t k : row.elements) {
      if (has_resistance(elements[k].kind)) factors[k] = std::exp(ports.twin_mismatch * drawn[k]);
    }
  }
  return factors;
}

double current_by_siemens(const Element& e, double siemens, double volts) {
  return e.kind == ElementKind::curved_resistor ? e.memristor->curve->at(siemens, volts).by_siemens : volts;
}

double force_slope_A(const NodeCoordinates& at, std::size_t element, double siemens, const std::vector<double>& v,
                     const std::vector<double>& w, const std::vector<double>& y) {
  const Element& e = at.equations().netlist().elements[element];
  if (e.kind == ElementKind::voltage) return at.pull_source(element, y.data());
  const double drop = across(e, w);
  return has_resistance(e.kind) ? drop * current_by_siemens(e, siemens, across(e, v)) : drop;
}

double energy_slope_W(const NodeCoordinates& at, std::size_t element, double siemens, const std::vector<double>& v,
                      const std::vector<double>& r) {
  const Element& e = at.equations().netlist().elements[element];
  if (e.kind == ElementKind::voltage) return at.pull_source(element, r.data());
  const double drop = across(e, v), weight = at.weight(element);
  if (e.kind == ElementKind::curved_resistor) return weight * e.memristor->curve->energy(siemens, drop).by_siemens;
  return weight * (e.kind == ElementKind::resistor ? 0.5 * drop * drop : drop);
}

}  // namespace nudge
