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
      if (elements[k].kind == ElementKind::resistor) factors[k] = std::exp(ports.twin_mismatch * drawn[k]);
    }
  }
  return factors;
}

}  // namespace nudge
