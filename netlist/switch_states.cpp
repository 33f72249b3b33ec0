// SPDX-License-Identifier: Apache-2.0
#include "netlist/switch_states.hpp"

#include <cmath>
#include <utility>

#include "sim/base/errors.hpp"

namespace nudge {

Netlist with_switch_states(Netlist netlist) {
  for (std::size_t k = 0; k < netlist.elements.size(); ++k) {
    Element& e = netlist.elements[k];
    if (!e.formula || !e.formula->switched) continue;
    const SwitchLaw law = *e.formula->switched;
    const int input = e.formula->inputs[static_cast<std::size_t>(law.input)];
    NUDGE_EXPECT(input >= 0);
    const auto first = static_cast<std::size_t>(2 + 2 * input);
    netlist.switches.push_back({k, e.nodes[first], e.nodes[first + 1], law});
    e.kind = ElementKind::resistor;
    e.value = 1 / (law.on ? law.on_S : law.off_S);
    e.nodes.resize(2);
    e.formula = nullptr;
  }
  return netlist;
}

SwitchStates::SwitchStates(const Netlist& netlist) : switches_(&netlist.switches), fresh_(netlist.switches.size(), 0) {
  for (const TimedSwitch& one : netlist.switches) closed_.push_back(one.law.on ? 1 : 0);
}

void SwitchStates::set(std::vector<double>& values) const {
  for (std::size_t k = 0; k < size(); ++k) {
    const TimedSwitch& one = (*switches_)[k];
    values[one.element] = closed(k) ? one.law.on_S : one.law.off_S;
  }
}

double SwitchStates::beyond(std::size_t k, const double* v) const {
  const TimedSwitch& one = (*switches_)[k];
  const auto at = [v](int node) { return node < 0 ? 0 : v[node]; };
  const double control = one.law.scale * (at(one.plus) - at(one.minus));
  return control - (closed(k) ? one.law.off_at : one.law.on_at);
}

void SwitchStates::turn(std::size_t k) {
  closed_[k] = closed(k) ? 0 : 1;
  fresh_[k] = 1;
}

bool SwitchStates::follow(const double* v) {
  constexpr double kClear = 1e-6;  // far above the error of the time at which a threshold was met
  bool any = false;
  for (std::size_t k = 0; k < size(); ++k) {
    const double distance = beyond(k, v),
                 least = fresh_[k] != 0 ? kClear * (1 + std::abs((*switches_)[k].law.on_at)) : 0;
    if (closed(k) ? distance >= -least : distance < least) continue;
    turn(k);
    any = true;
  }
  return any;
}

void SwitchStates::rest() { fresh_.assign(fresh_.size(), 0); }

}  // namespace nudge
