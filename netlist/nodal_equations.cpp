// SPDX-License-Identifier: Apache-2.0
#include "netlist/nodal_equations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "netlist/element_stamps.hpp"

namespace nudge {
namespace {

using Entries = std::vector<std::pair<int, int>>;

void square_entries(int a, int b, Entries& entries) {
  for (const int row : {a, b}) {
    for (const int column : {a, b}) entries.emplace_back(row, column);
  }
}

}  // namespace

NodalEquations::NodalEquations(Netlist netlist, std::vector<NodePair> outputs)
    : netlist_(std::move(netlist)), outputs_(std::move(outputs)) {
  build();
}

std::vector<double> NodalEquations::values() const {
  std::vector<double> all;
  for (const Element& e : netlist_.elements) all.push_back(has_resistance(e.kind) ? 1 / e.value : e.value);
  return all;
}

std::string NodalEquations::unknown_name(int unknown) const {
  if (unknown < 0) return "unknown";
  const auto at = static_cast<std::size_t>(unknown);
  if (at < netlist_.nodes.size()) return fmt::format("v({})", netlist_.nodes[at]);
  const std::size_t branch = at - netlist_.nodes.size();
  return branch < branch_names_.size() ? fmt::format("i({})", branch_names_[branch])
                                       : fmt::format("i(output {})", branch - branch_names_.size());
}

/// Collects the places that an element adds to, in the order in which evaluate() does.
void NodalEquations::entries_of(const Element& e, int branch, Entries& entries) const {
  const auto node = [&e](std::size_t i) { return e.nodes[i]; };
  switch (e.kind) {
    case ElementKind::resistor:
    case ElementKind::curved_resistor:
    case ElementKind::diode: return square_entries(node(0), node(1), entries);
    case ElementKind::voltage:
    case ElementKind::inductor:
    case ElementKind::vcvs:
    case ElementKind::ccvs:
      entries.insert(entries.end(), {{node(0), branch}, {node(1), branch}, {branch, node(0)}, {branch, node(1)}});
      if (e.kind == ElementKind::vcvs) entries.insert(entries.end(), {{branch, node(2)}, {branch, node(3)}});
      if (e.kind == ElementKind::ccvs) entries.emplace_back(branch, branch_[static_cast<std::size_t>(e.control)]);
      return;
    case ElementKind::vccs:
      entries.insert(entries.end(), {{node(0), node(2)}, {node(0), node(3)}, {node(1), node(2)}, {node(1), node(3)}});
      return;
    case ElementKind::cccs: {
      const int control = branch_[static_cast<std::size_t>(e.control)];
      entries.insert(entries.end(), {{node(0), control}, {node(1), control}});
      return;
    }
    case ElementKind::mosfet:
      for (const std::size_t row : {0, 2}) {
        for (const std::size_t column : {1, 0, 2, 3}) entries.emplace_back(node(row), node(column));
      }
      square_entries(node(3), node(2), entries);
      square_entries(node(3), node(0), entries);
      return;
    case ElementKind::formula_voltage:
      entries.insert(entries.end(), {{node(0), branch}, {node(1), branch}, {branch, node(0)}, {branch, node(1)}});
      for (const int input : e.formula->inputs) {
        const auto [plus, minus] = input_unknowns(e, input);
        entries.insert(entries.end(), {{branch, plus}, {branch, minus}});
      }
      return;
    case ElementKind::formula_current:
      for (const int input : e.formula->inputs) {
        const auto [plus, minus] = input_unknowns(e, input);
        entries.insert(entries.end(), {{node(0), plus}, {node(0), minus}, {node(1), plus}, {node(1), minus}});
      }
      return;
    case ElementKind::bipolar:
      for (const std::size_t row : {0, 1, 2}) {
        for (const std::size_t column : {1, 2, 0}) entries.emplace_back(node(row), node(column));
      }
      square_entries(node(1), node(2), entries);
      square_entries(node(1), node(0), entries);
      if (!e.bipolar->spreads()) return;
      for (const std::size_t row : {3, 1}) {
        for (const std::size_t column : {3, 1, 2, 0}) entries.emplace_back(node(row), node(column));
      }
      return;
    case ElementKind::capacitor:
    case ElementKind::current: return;
  }
}

std::pair<int, int> NodalEquations::input_unknowns(const Element& e, int input) const {
  if (input < 0) return {branch_[static_cast<std::size_t>(e.sources[static_cast<std::size_t>(-1 - input)])], kGround};
  const auto first = static_cast<std::size_t>(2 + 2 * input);
  return {e.nodes[first], e.nodes[first + 1]};
}

void NodalEquations::build() {
  const int count = nodes();
  int next = count;
  branch_.assign(netlist_.elements.size(), -1);
  for (std::size_t i = 0; i < netlist_.elements.size(); ++i) {
    const Element& e = netlist_.elements[i];
    if ((kBentKinds & kind_bit(e.kind)) != 0) bent_.push_back(i);
    if (!has_branch(e.kind)) continue;
    branch_[i] = next++;
    branch_names_.push_back(e.name);
  }
  Entries entries;
  for (std::size_t i = 0; i < netlist_.elements.size(); ++i) {
    first_entry_.push_back(entries.size());
    entries_of(netlist_.elements[i], branch_[i], entries);
  }
  for (const NodePair& output : outputs_) {
    const int own = next++;
    first_entry_.push_back(entries.size());
    entries.insert(entries.end(),
                   {{output.plus, own}, {output.minus, own}, {own, output.plus}, {own, output.minus}, {own, own}});
  }
  first_entry_.push_back(entries.size());
  for (int i = 0; i < count; ++i) entries.emplace_back(i, i);
  // By columns, without ground and without repetitions.
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(entries[a].second, entries[a].first) < std::pair(entries[b].second, entries[b].first);
  });
  slots_.assign(entries.size(), -1);
  pattern_.size = next;
  pattern_.column_begin.assign(static_cast<std::size_t>(next) + 1, 0);
  std::pair<int, int> last{-1, -1};
  for (const std::size_t i : order) {
    if (entries[i].first < 0 || entries[i].second < 0) continue;
    if (entries[i] != last) {
      pattern_.row.push_back(entries[i].first);
      ++pattern_.column_begin[static_cast<std::size_t>(entries[i].second) + 1];
      last = entries[i];
    }
    slots_[i] = static_cast<int>(pattern_.row.size()) - 1;
  }
  std::partial_sum(pattern_.column_begin.begin(), pattern_.column_begin.end(), pattern_.column_begin.begin());
  for (int& slot : slots_) slot = slot < 0 ? static_cast<int>(pattern_.entries()) : slot;
}

void NodalEquations::evaluate(const std::vector<double>& x, const std::vector<double>& values,
                              const std::vector<OutputAction>& actions, const Easing& easing, JunctionState* state,
                              std::vector<double>& residual, std::vector<double>& jacobian, std::uint32_t kinds) const {
  residual.assign(static_cast<std::size_t>(unknowns()), 0.0);
  jacobian.assign(pattern_.entries() + 1, 0.0);  // the last is ground's
  if (state != nullptr) state->begin();
  Stamps s(*this, x, state, residual, jacobian);
  for (std::size_t k = 0; k < netlist_.elements.size(); ++k) {
    const Element& e = netlist_.elements[k];
    if ((kinds >> static_cast<unsigned>(e.kind) & 1U) == 0) continue;
    s.begin(first_entry_[k], static_cast<int>(k));
    s.element(e, values[k], branch_[k], easing.sources);
  }
  const std::size_t elements = netlist_.elements.size();
  for (std::size_t k = 0; k < outputs_.size() && (kinds & kOutputs) != 0; ++k) {
    s.begin(first_entry_[elements + k], -1);
    s.output(outputs_[k], unknowns() - static_cast<int>(outputs_.size() - k),
             actions.empty() ? OutputAction{} : actions[k], easing.sources);
  }
  s.begin(first_entry_[elements + outputs_.size()], -1);
  const double shunt = easing.gmin_S + netlist_.shunt_S;
  for (int i = 0; i < nodes(); ++i) {
    s.slope(shunt);
    s.current(i, shunt * s.at(i));
  }
  jacobian.pop_back();
}

void NodalEquations::evaluate_affine(const std::vector<double>& values, const std::vector<OutputAction>& actions,
                                     Affine& affine) const {
  const std::vector<double> zero(static_cast<std::size_t>(unknowns()), 0.0);
  evaluate(zero, values, actions, {}, nullptr, affine.residual, affine.jacobian, ~kBentKinds);
}

void NodalEquations::evaluate(const Affine& affine, const std::vector<double>& values, const std::vector<double>& x,
                              JunctionState* state, std::vector<double>& residual,
                              std::vector<double>& jacobian) const {
  residual = affine.residual;
  for (std::size_t column = 0; column < x.size(); ++column) {
    for (int k = pattern_.column_begin[column]; k < pattern_.column_begin[column + 1]; ++k) {
      const auto entry = static_cast<std::size_t>(k);
      residual[static_cast<std::size_t>(pattern_.row[entry])] += affine.jacobian[entry] * x[column];
    }
  }
  jacobian = affine.jacobian;
  jacobian.push_back(0);  // ground's
  if (state != nullptr) state->begin();
  Stamps s(*this, x, state, residual, jacobian);
  for (const std::size_t k : bent_) {
    s.begin(first_entry_[k], static_cast<int>(k));
    s.element(netlist_.elements[k], values[k], branch_[k], 1);
  }
  jacobian.pop_back();
}

JunctionState NodalEquations::junctions_at(const std::vector<double>& x) const {
  JunctionState state;
  const auto at = [&x](int node) { return node < 0 ? 0 : x[static_cast<std::size_t>(node)]; };
  for (const Element& e : netlist_.elements) {
    if (e.kind == ElementKind::diode || e.kind == ElementKind::curved_resistor)
      state.volts.push_back(at(e.nodes[0]) - at(e.nodes[1]));
    if (e.kind == ElementKind::bipolar) {
      for (const int to : {2, 0})
        state.volts.push_back(e.bipolar->sign * (at(e.nodes[1]) - at(e.nodes[static_cast<std::size_t>(to)])));
    }
    if (e.kind != ElementKind::mosfet) continue;
    state.volts.push_back(at(e.nodes[1]) - at(e.nodes[2]));
    state.volts.push_back(at(e.nodes[0]) - at(e.nodes[2]));
    state.volts.push_back(e.mosfet.sign * (at(e.nodes[3]) - at(e.nodes[2])));
    state.volts.push_back(e.mosfet.sign * (at(e.nodes[3]) - at(e.nodes[0])));
  }
  return state;
}

}  // namespace nudge
