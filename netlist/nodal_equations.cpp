// SPDX-License-Identifier: Apache-2.0
#include "netlist/nodal_equations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nudge {
namespace {

using Entries = std::vector<std::pair<int, int>>;

/// Largest change of a gate's or drain's voltage in a step: chosen, a fraction of usual supplies.
constexpr double kGateStep_V = 1.0;
/// Limit on the holding back of a junction that has arrived.
constexpr double kHeldBack_V = 1e-9;

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
  for (const Element& e : netlist_.elements) all.push_back(e.kind == ElementKind::resistor ? 1 / e.value : e.value);
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
    case ElementKind::diode: return square_entries(node(0), node(1), entries);
    case ElementKind::voltage:
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
        for (const std::size_t column : {1, 0, 2}) entries.emplace_back(node(row), node(column));
      }
      square_entries(node(3), node(2), entries);
      square_entries(node(3), node(0), entries);
      return;
    case ElementKind::capacitor:
    case ElementKind::current: return;
  }
}

void NodalEquations::build() {
  const int count = nodes();
  int next = count;
  branch_.assign(netlist_.elements.size(), -1);
  for (std::size_t i = 0; i < netlist_.elements.size(); ++i) {
    const Element& e = netlist_.elements[i];
    if (e.kind == ElementKind::diode || e.kind == ElementKind::mosfet) bent_.push_back(i);
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

/// Adds the currents and slopes of elements, in the order of entries_of().
class NodalEquations::Stamps {
 public:
  Stamps(const NodalEquations& owner, const std::vector<double>& x, JunctionState* state, std::vector<double>& residual,
         std::vector<double>& jacobian)
      : owner_(&owner), x_(&x), state_(state), residual_(&residual), jacobian_(&jacobian) {}

  double at(int unknown) const { return unknown < 0 ? 0 : (*x_)[static_cast<std::size_t>(unknown)]; }
  void begin(std::size_t first_entry, int element) {
    slot_ = owner_->slots_.data() + first_entry;
    element_ = element;
  }
  void slope(double value) { (*jacobian_)[static_cast<std::size_t>(*slot_++)] += value; }
  void current(int unknown, double value) {
    if (unknown >= 0) (*residual_)[static_cast<std::size_t>(unknown)] += value;
  }

  /// Adds a current i from a to b with the slope g.
  void branch(int a, int b, double i, double g) {
    current(a, i);
    current(b, -i);
    for (const double sign : {1.0, -1.0, -1.0, 1.0}) slope(sign * g);
  }

  /// Voltage at which an element is linearised, `wanted` instead of `volts` of x; it is remembered.
  double linearised(double volts, double wanted) {
    if (state_ == nullptr) return volts;
    const double back = std::abs(volts - wanted);
    if (back > kHeldBack_V * std::max(1.0, std::abs(volts))) {
      if (!state_->limited || back > most_) state_->worst = element_;
      most_ = std::max(most_, back);
      state_->limited = true;
    }
    state_->volts[junction_++] = wanted;
    return wanted;
  }
  double last() const { return state_ == nullptr ? 0 : state_->volts[junction_]; }

  void element(const Element& e, double value, int own, double sources) {
    const double gmin = owner_->netlist_.gmin_S;
    switch (e.kind) {
      case ElementKind::resistor: return branch(e.nodes[0], e.nodes[1], value * volts(e, 0), value);
      case ElementKind::diode: return junction(e.junction, 1, e.nodes[0], e.nodes[1], gmin);
      case ElementKind::mosfet: return mosfet(e, gmin);
      case ElementKind::capacitor: return;
      case ElementKind::current: return through(e, sources * value);
      case ElementKind::vccs:
        through(e, value * volts(e, 2));
        for (const double sign : {1.0, -1.0, -1.0, 1.0}) slope(sign * value);
        return;
      case ElementKind::cccs:
        through(e, value * controlling(e));
        for (const double sign : {1.0, -1.0}) slope(sign * value);
        return;
      case ElementKind::voltage:
      case ElementKind::vcvs:
      case ElementKind::ccvs: return source(e, value, own, sources);
    }
  }

  void output(const NodePair& at_nodes, int own, const OutputAction& action, double sources) {
    current(at_nodes.plus, at(own));
    current(at_nodes.minus, -at(own));
    const double between = at(at_nodes.plus) - at(at_nodes.minus), set = sources * action.value;
    current(own, action.held ? between - set : at(own) - action.load_S * between + set);
    for (const double value : {1.0, -1.0}) slope(value);
    const double by_volts = action.held ? 1.0 : -action.load_S;
    for (const double value : {by_volts, -by_volts}) slope(value);
    slope(action.held ? 0.0 : 1.0);
  }

 private:
  double volts(const Element& e, std::size_t i) const { return at(e.nodes[i]) - at(e.nodes[i + 1]); }
  double controlling(const Element& e) const { return at(owner_->branch_[static_cast<std::size_t>(e.control)]); }
  void through(const Element& e, double amperes) {
    current(e.nodes[0], amperes);
    current(e.nodes[1], -amperes);
  }

  /// Adds a source of voltage with its branch: V, E or H.
  void source(const Element& e, double value, int own, double sources) {
    through(e, at(own));
    for (const double sign : {1.0, -1.0, 1.0, -1.0}) slope(sign);
    double set = sources * value;
    if (e.kind == ElementKind::vcvs) {
      set = value * volts(e, 2);
      slope(-value);
      slope(value);
    } else if (e.kind == ElementKind::ccvs) {
      set = value * controlling(e);
      slope(-value);
    }
    current(own, volts(e, 0) - set);
  }

  /// Adds a junction, from cathode to anode where its sign is −1.
  void junction(const JunctionLaw& law, double sign, int anode, int cathode, double gmin) {
    const double volts = sign * (at(anode) - at(cathode));
    const double where = state_ == nullptr ? volts : linearised(volts, law.limited(volts, last()));
    const CurrentSlope of = law.at(where);
    branch(anode, cathode, sign * (of.current + of.slope * (volts - where) + gmin * volts), of.slope + gmin);
  }

  void mosfet(const Element& e, double gmin) {
    const int drain = e.nodes[0], gate = e.nodes[1], source = e.nodes[2], bulk = e.nodes[3];
    const double vgs = at(gate) - at(source), vds = at(drain) - at(source);
    const double gate_at = near(vgs), drain_at = near(vds);
    const MosfetLaw::Point of = e.mosfet.at(gate_at, drain_at);
    const double i = of.current + of.by_gate * (vgs - gate_at) + of.by_drain * (vds - drain_at);
    current(drain, i);
    current(source, -i);
    for (const double sign : {1.0, -1.0}) {  // into the drain, out of the source
      slope(sign * of.by_gate);
      slope(sign * of.by_drain);
      slope(-sign * (of.by_gate + of.by_drain));
    }
    for (const int to : {source, drain}) junction(e.mosfet.body, e.mosfet.sign, bulk, to, gmin);
  }

  double near(double volts) {
    if (state_ == nullptr) return volts;
    return linearised(volts, std::clamp(volts, last() - kGateStep_V, last() + kGateStep_V));
  }

  const NodalEquations* owner_;
  const std::vector<double>* x_;
  JunctionState* state_;
  std::vector<double>* residual_;
  std::vector<double>* jacobian_;
  const int* slot_ = nullptr;
  int element_ = -1;
  std::size_t junction_ = 0;
  double most_ = 0;
};

void NodalEquations::evaluate(const std::vector<double>& x, const std::vector<double>& values,
                              const std::vector<OutputAction>& actions, const Easing& easing, JunctionState* state,
                              std::vector<double>& residual, std::vector<double>& jacobian, std::uint32_t kinds) const {
  residual.assign(static_cast<std::size_t>(unknowns()), 0.0);
  jacobian.assign(pattern_.entries() + 1, 0.0);  // the last is ground's
  if (state != nullptr) state->limited = false;
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
  evaluate(zero, values, actions, {}, nullptr, affine.residual, affine.jacobian,
           ~(kind_bit(ElementKind::diode) | kind_bit(ElementKind::mosfet)));
}

void NodalEquations::evaluate(const Affine& affine, const std::vector<double>& x, JunctionState* state,
                              std::vector<double>& residual, std::vector<double>& jacobian) const {
  residual = affine.residual;
  for (std::size_t column = 0; column < x.size(); ++column) {
    for (int k = pattern_.column_begin[column]; k < pattern_.column_begin[column + 1]; ++k) {
      const auto entry = static_cast<std::size_t>(k);
      residual[static_cast<std::size_t>(pattern_.row[entry])] += affine.jacobian[entry] * x[column];
    }
  }
  jacobian = affine.jacobian;
  jacobian.push_back(0);  // ground's
  if (state != nullptr) state->limited = false;
  Stamps s(*this, x, state, residual, jacobian);
  for (const std::size_t k : bent_) {
    s.begin(first_entry_[k], static_cast<int>(k));
    s.element(netlist_.elements[k], 0, -1, 1);
  }
  jacobian.pop_back();
}

JunctionState NodalEquations::junctions_at(const std::vector<double>& x) const {
  JunctionState state;
  const auto at = [&x](int node) { return node < 0 ? 0 : x[static_cast<std::size_t>(node)]; };
  for (const Element& e : netlist_.elements) {
    if (e.kind == ElementKind::diode) state.volts.push_back(at(e.nodes[0]) - at(e.nodes[1]));
    if (e.kind != ElementKind::mosfet) continue;
    state.volts.push_back(at(e.nodes[1]) - at(e.nodes[2]));
    state.volts.push_back(at(e.nodes[0]) - at(e.nodes[2]));
    state.volts.push_back(e.mosfet.sign * (at(e.nodes[3]) - at(e.nodes[2])));
    state.volts.push_back(e.mosfet.sign * (at(e.nodes[3]) - at(e.nodes[0])));
  }
  return state;
}

}  // namespace nudge
