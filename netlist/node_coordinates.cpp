// SPDX-License-Identifier: Apache-2.0
#include "netlist/node_coordinates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "netlist/card_reader.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

using Row = std::map<int, double>;

/// Share of 1 below which a weight is rounding.
constexpr double kNothing = 1e-14;

void add_to(Row& row, const Row& other, double factor) {
  for (const auto& [number, weight] : other) row[number] += factor * weight;
}

}  // namespace

/// Elimination of the voltages that sources set: the node that every voltage source sets, a child in the forest that they
/// make, and rows of the other nodes' voltages.
struct NodeCoordinates::Elimination {
  const NodalEquations& equations;
  const std::vector<Element>& elements;
  std::vector<std::size_t> branches;  ///< elements
  std::vector<int> child;             ///< node that each branch sets
  std::vector<int> branch_of;         ///< branch that sets each node; −1: free
  std::vector<Row> p, n, q;           ///< rows by node

  explicit Elimination(const NodalEquations& of)
      : equations(of), elements(of.netlist().elements), branch_of(of.netlist().nodes.size(), -1) {
    for (std::size_t k = 0; k < elements.size(); ++k) {
      if (!has_branch(elements[k].kind)) continue;
      if (elements[k].kind == ElementKind::ccvs) {
        refuse(elements[k].place,
               fmt::format("{}: a voltage that a current sets (H) is not a state of nodes (take E across a "
                           "resistor that the current passes)",
                           elements[k].name));
      }
      if (elements[k].kind == ElementKind::formula_voltage) {
        refuse(
            elements[k].place,
            fmt::format(
                "{}: an expression sets this voltage, so it is not a state of nodes. Give it a resistance: the current "
                "i={{-(expression)/R}} and a resistor R, both between its nodes",
                elements[k].name));
      }
      branches.push_back(k);
    }
    for (const Element& e : elements) {
      if (e.sources.empty()) continue;
      refuse(e.place,
             fmt::format(
                 "{}: an expression takes the current of a source, which is not a function of the voltages of nodes. "
                 "Take the voltage across a resistor that the current passes",
                 e.name));
    }
    find_children();
    std::vector<Row> laws(branches.size()), flows(branches.size());
    write_laws(laws, flows);
    p = solved(laws, &q);
    n = solved(flows, nullptr);
  }

  /// Finds the children from ground, then from the outputs, then from the rest: roots stay free.
  void find_children() {
    std::vector<std::vector<std::pair<int, int>>> edges(branch_of.size() + 1);
    for (std::size_t k = 0; k < branches.size(); ++k) {
      const Element& e = elements[branches[k]];
      for (const std::size_t end : {0, 1}) {
        edges[static_cast<std::size_t>(e.nodes[end] + 1)].push_back({e.nodes[1 - end], static_cast<int>(k)});
      }
    }
    child.assign(branches.size(), kGround);
    std::vector<bool> seen(branch_of.size() + 1, false);
    std::vector<int> roots = {kGround};
    for (const NodePair& output : equations.outputs()) roots.insert(roots.end(), {output.plus, output.minus});
    for (int node = 0; node < equations.nodes(); ++node) roots.push_back(node);
    for (const int root : roots) {
      if (seen[static_cast<std::size_t>(root + 1)]) continue;
      seen[static_cast<std::size_t>(root + 1)] = true;
      std::vector<int> open = {root};
      for (std::size_t i = 0; i < open.size(); ++i) {
        for (const auto& [to, branch] : edges[static_cast<std::size_t>(open[i] + 1)]) {
          if (seen[static_cast<std::size_t>(to + 1)]) continue;
          seen[static_cast<std::size_t>(to + 1)] = true;
          child[static_cast<std::size_t>(branch)] = to;
          branch_of[static_cast<std::size_t>(to)] = branch;
          open.push_back(to);
        }
      }
    }
  }

  /// Writes by branch the laws of voltages v₊ − v₋ − k (v_c₊ − v_c₋) = e, and the charges that a branch current moves.
  void write_laws(std::vector<Row>& laws, std::vector<Row>& flows) const {
    const auto add = [](Row& row, int node, double weight) {
      if (node >= 0) row[node] += weight;
    };
    std::map<std::size_t, std::size_t> number;
    for (std::size_t k = 0; k < branches.size(); ++k) {
      const Element& e = elements[branches[k]];
      number[branches[k]] = k;
      for (Row* row : {&laws[k], &flows[k]}) {
        add(*row, e.nodes[0], 1);
        add(*row, e.nodes[1], -1);
      }
      if (e.kind != ElementKind::vcvs) continue;
      add(laws[k], e.nodes[2], -e.value);
      add(laws[k], e.nodes[3], e.value);
    }
    for (const Element& e : elements) {
      if (e.kind != ElementKind::cccs) continue;
      Row& row = flows[number.at(static_cast<std::size_t>(e.control))];
      add(row, e.nodes[0], e.value);
      add(row, e.nodes[1], -e.value);
    }
  }

  /// Solves M v_X + B v_F = e, X the children, as rows by node: v_F themselves, v_X = M⁻¹ (e − B v_F); e goes to `sources`.
  std::vector<Row> solved(const std::vector<Row>& laws, std::vector<Row>* sources) const {
    std::vector<Row> rows(branch_of.size());
    if (sources != nullptr) sources->assign(branch_of.size(), {});
    for (int node = 0; node < equations.nodes(); ++node) {
      if (branch_of[static_cast<std::size_t>(node)] < 0) rows[static_cast<std::size_t>(node)][node] = 1;
    }
    if (branches.empty()) return rows;
    std::vector<Row> columns(branches.size());  // of M: by branch whose child it is, rows are laws
    std::map<int, Row> rest;                    // of B: by free node
    for (std::size_t k = 0; k < laws.size(); ++k) {
      for (const auto& [node, weight] : laws[k]) {
        const int own = branch_of[static_cast<std::size_t>(node)];
        (own >= 0 ? columns[static_cast<std::size_t>(own)] : rest[node])[static_cast<int>(k)] += weight;
      }
    }
    SparsePattern pattern{static_cast<int>(branches.size()), {0}, {}};
    std::vector<double> values;
    for (const Row& column : columns) {
      for (const auto& [row, weight] : column) {
        pattern.row.push_back(row);
        values.push_back(weight);
      }
      pattern.column_begin.push_back(static_cast<int>(pattern.row.size()));
    }
    SparseLu lu(pattern);
    if (!lu.factor(values)) {
      const int at = lu.singular_column();
      const Element& e = elements[branches[static_cast<std::size_t>(at < 0 ? 0 : at)]];
      refuse(e.place,
             fmt::format("{}: controlled sources set each other's voltages or currents to no finite value", e.name));
    }
    std::vector<double> b(branches.size());
    const auto spread = [&](int number, double sign, std::vector<Row>& into) {
      lu.solve(b.data());
      for (std::size_t k = 0; k < b.size(); ++k) {
        if (std::abs(b[k]) > kNothing) into[static_cast<std::size_t>(child[k])][number] = sign * b[k];
      }
      std::fill(b.begin(), b.end(), 0.0);
    };
    for (const auto& [node, column] : rest) {
      for (const auto& [row, weight] : column) b[static_cast<std::size_t>(row)] = weight;
      spread(node, -1, rows);
    }
    for (std::size_t k = 0; k < branches.size() && sources != nullptr; ++k) {
      if (elements[branches[k]].kind != ElementKind::voltage) continue;
      b[k] = 1;
      spread(static_cast<int>(branches[k]), 1, *sources);
    }
    return rows;
  }
};

namespace {

/// Replaces v_pivot by sign · z + v_other in all rows and in their sources; `number`: number of z.
void replace(std::vector<Row>& rows, std::vector<Row>* sources, int pivot, int other, int number, double sign) {
  const Row of_other = other < 0 ? Row{} : rows[static_cast<std::size_t>(other)];
  const Row of_sources = other < 0 || sources == nullptr ? Row{} : (*sources)[static_cast<std::size_t>(other)];
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto found = rows[i].find(pivot);
    if (found == rows[i].end()) continue;
    const double weight = found->second;
    rows[i].erase(found);
    rows[i][number] += sign * weight;
    add_to(rows[i], of_other, weight);
    if (sources != nullptr) add_to((*sources)[i], of_sources, weight);
  }
}

/// Node whose place each output takes, in any order of the outputs: from ground and the set nodes outward along the pairs,
/// then from the second node of a pair that nothing joins to these. kGround if all of an output is set already.
std::vector<int> places_of(const std::vector<NodePair>& outputs, const std::vector<bool>& free) {
  std::vector<bool> set;
  for (const bool one : free) set.push_back(!one);
  const auto is_set = [&set](int node) { return node < 0 || set[static_cast<std::size_t>(node)]; };
  std::vector<int> places(outputs.size(), kGround);
  while (true) {
    std::size_t next = outputs.size(), apart = outputs.size();
    for (std::size_t k = outputs.size(); k-- > 0;) {
      if (places[k] != kGround) continue;
      const bool plus = is_set(outputs[k].plus), minus = is_set(outputs[k].minus);
      if (plus != minus) next = k;
      if (!plus && !minus) apart = k;
    }
    if (next < outputs.size()) {
      places[next] = is_set(outputs[next].plus) ? outputs[next].minus : outputs[next].plus;
      set[static_cast<std::size_t>(places[next])] = true;
    } else if (apart < outputs.size()) {
      set[static_cast<std::size_t>(outputs[apart].minus)] = true;
    } else {
      return places;
    }
  }
}

}  // namespace

NodeCoordinates::NodeCoordinates(const NodalEquations& equations, const std::vector<std::string>& output_names)
    : equations_(&equations),
      outputs_(static_cast<int>(equations.outputs().size())),
      elements_(equations.netlist().elements.size()) {
  Elimination e(equations);
  for (const Element& element : equations.netlist().elements) {
    reciprocal_ = reciprocal_ && element.kind != ElementKind::vcvs && element.kind != ElementKind::cccs;
  }
  const int nodes = equations.nodes();
  std::vector<bool> free(static_cast<std::size_t>(nodes));
  for (int i = 0; i < nodes; ++i) free[static_cast<std::size_t>(i)] = e.branch_of[static_cast<std::size_t>(i)] < 0;
  const std::vector<int> places = places_of(equations.outputs(), free);
  for (int k = 0; k < outputs_; ++k) {
    const auto [plus, minus] = equations.outputs()[static_cast<std::size_t>(k)];
    const int pivot = places[static_cast<std::size_t>(k)];
    const bool first = pivot == plus;
    const int other = first ? minus : plus;
    const bool possible = pivot >= 0 && (other < 0 || e.p[static_cast<std::size_t>(other)].count(pivot) == 0);
    if (!possible) {
      throw UserError(
          fmt::format("output {}: sources or other outputs set its voltage (take a node that resistors hold)",
                      output_names[static_cast<std::size_t>(k)]));
    }
    free[static_cast<std::size_t>(pivot)] = false;
    replace(e.p, &e.q, pivot, other, nodes + k, first ? 1 : -1);
    replace(e.n, nullptr, pivot, other, nodes + k, first ? 1 : -1);
  }
  std::vector<int> column(static_cast<std::size_t>(nodes + outputs_), -1);
  for (int i = 0; i < nodes; ++i) {
    if (!free[static_cast<std::size_t>(i)]) continue;
    column[static_cast<std::size_t>(i)] = inner();
    node_of_.push_back(i);
  }
  for (int k = 0; k < outputs_; ++k) column[static_cast<std::size_t>(nodes + k)] = inner() + k;
  by_source_.resize(equations.netlist().elements.size());
  const auto take = [&](const std::vector<Row>& rows, std::vector<std::vector<Share>>& into, bool columns) {
    for (const Row& row : rows) {
      into.emplace_back();
      for (const auto& [number, weight] : row) {
        if (weight != 0) into.back().push_back({columns ? column[static_cast<std::size_t>(number)] : number, weight});
      }
    }
  };
  take(e.p, p_, true);
  take(e.n, n_, true);
  take(e.q, q_, false);
  if (!reciprocal_) weigh_branches();
  for (int i = 0; i < nodes; ++i) {
    for (const auto& [source, weight] : q_[static_cast<std::size_t>(i)]) {
      by_source_[static_cast<std::size_t>(source)].push_back({i, weight});
    }
  }
}

/// Weighs the branches: every resistor, diode and current source, and the elements from a node to ground.
void NodeCoordinates::weigh_branches() {
  std::vector<NodePair> branches;
  for (const Element& e : equations_->netlist().elements) {
    branches.push_back(has_energy(e.kind) ? NodePair{e.nodes[0], e.nodes[1]} : NodePair{});
  }
  for (int i = 0; i < equations_->nodes(); ++i) branches.push_back({i, kGround});
  const auto found = branch_balance(p_, n_, branches, columns(), inner());
  if (!found) return;
  reciprocal_ = true;
  balance_ = *found;
  for (std::vector<Share>& row : p_) {
    for (Share& share : row) share.weight /= balance_.scale[static_cast<std::size_t>(share.number)];
  }
  for (std::vector<Share>& row : n_) {
    for (Share& share : row) share.weight *= balance_.scale[static_cast<std::size_t>(share.number)];
  }
}

namespace {

void multiply(const std::vector<std::vector<Share>>& rows, const double* x, double* out, bool add) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double sum = add ? out[i] : 0;
    for (const auto& [number, weight] : rows[i]) sum += weight * x[number];
    out[i] = sum;
  }
}

void multiply_transposed(const std::vector<std::vector<Share>>& rows, const double* x, double* out) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const auto& [number, weight] : rows[i]) out[number] += weight * x[i];
  }
}

}  // namespace

void NodeCoordinates::voltages(const double* z, const std::vector<double>& values, double* v) const {
  multiply(p_, z, v, false);
  multiply(q_, values.data(), v, true);
}

void NodeCoordinates::displaced(const double* d, double* v) const { multiply(p_, d, v, false); }
void NodeCoordinates::pull(const double* y, double* out) const { multiply_transposed(p_, y, out); }
void NodeCoordinates::spread(const double* u, double* w) const { multiply(n_, u, w, false); }
void NodeCoordinates::gather(const double* f, double* out) const { multiply_transposed(n_, f, out); }

void NodeCoordinates::state(const std::vector<double>& v, double* z) const {
  for (std::size_t i = 0; i < node_of_.size(); ++i) z[i] = v[static_cast<std::size_t>(node_of_[i])];
  const auto at = [&v](int node) { return node < 0 ? 0 : v[static_cast<std::size_t>(node)]; };
  for (int k = 0; k < outputs_; ++k) {
    const NodePair& output = equations_->outputs()[static_cast<std::size_t>(k)];
    z[inner() + k] = at(output.plus) - at(output.minus);
  }
  for (std::size_t i = 0; weighted() && i < node_of_.size(); ++i) z[i] *= balance_.scale[i];
}

void NodeCoordinates::costate(const std::vector<double>& w, double* u) const {
  state(w, u);
  for (std::size_t i = 0; weighted() && i < node_of_.size(); ++i) u[i] /= balance_.scale[i] * balance_.scale[i];
}

double NodeCoordinates::pull_source(std::size_t element, const double* y) const {
  double sum = 0;
  for (const auto& [node, weight] : by_source_[element]) sum += weight * y[node];
  return sum;
}

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
      case ElementKind::curved_resistor: sum += weight * e.memristor->curve->energy(values[k], drop).watts; break;
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
    if (e.kind == ElementKind::curved_resistor) current = e.memristor->curve->at(values[k], drop).current;
    if (e.kind == ElementKind::diode) current = e.junction.at(drop).current + netlist.gmin_S * drop;
    if (e.nodes[0] >= 0) out[static_cast<std::size_t>(e.nodes[0])] += weight * current;
    if (e.nodes[1] >= 0) out[static_cast<std::size_t>(e.nodes[1])] -= weight * current;
  });
  for (int i = 0; i < equations.nodes(); ++i) {
    out[static_cast<std::size_t>(i)] += at.shunt_weight(i) * netlist.shunt_S * v[static_cast<std::size_t>(i)];
  }
}

}  // namespace nudge
