// SPDX-License-Identifier: Apache-2.0
#include "training/models/netlist/netlist_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "netlist/branch_states.hpp"
#include "netlist/inductor_states.hpp"
#include "netlist/nodal_equations.hpp"
#include "netlist/node_capacitances.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

/// Conductance from every node to ground where the netlist has no rshunt of its own: no node floats when resistors
/// learn to be open. It is of the order of gmin.
constexpr double kShunt_S = 1e-12;

/// Kind of elements that learn, as a parameter by its number.
struct LearningKind {
  ElementKind kind;
  const char* parameter;
  bool memristor = false;
  bool is(const Element& e) const {
    const bool of_kind = has_resistance(kind) ? has_resistance(e.kind) : e.kind == kind;
    return of_kind && (e.memristor != nullptr) == memristor;
  }
};
constexpr std::array<LearningKind, 4> kLearning = {{{ElementKind::resistor, "g"},
                                                    {ElementKind::voltage, "v"},
                                                    {ElementKind::current, "i"},
                                                    {ElementKind::resistor, "y", true}}};

bool is_source(ElementKind kind) { return kind == ElementKind::voltage || kind == ElementKind::current; }

std::size_t source_named(const Netlist& netlist, const std::string& name, const char* key) {
  const int found = find_element(netlist, name);
  if (found >= 0 && is_source(netlist.elements[static_cast<std::size_t>(found)].kind))
    return static_cast<std::size_t>(found);
  std::vector<std::string> sources;
  for (const Element& e : netlist.elements) {
    if (is_source(e.kind)) sources.push_back(e.name);
  }
  throw UserError(fmt::format("{}: \"{}\" is not an independent source of the netlist ({})", key, name,
                              sources.empty() ? "it has none" : did_you_mean(name, sources)));
}

int node_named(const Netlist& netlist, std::string name) {
  name.erase(std::remove_if(name.begin(), name.end(), [](unsigned char c) { return std::isspace(c) != 0; }),
             name.end());
  if (name == "0" || name == "gnd") return kGround;
  const int found = find_node(netlist, name);
  if (found >= 0) return found;
  throw UserError(
      fmt::format("netlist.outputs: the netlist has no node \"{}\" ({})", name, did_you_mean(name, netlist.nodes)));
}

NodePair pair_named(const Netlist& netlist, const std::string& text) {
  const std::size_t comma = text.find(',');
  NodePair pair{node_named(netlist, text.substr(0, comma)), kGround};
  if (comma != std::string::npos) pair.minus = node_named(netlist, text.substr(comma + 1));
  if (pair.plus == pair.minus) throw UserError(fmt::format("netlist.outputs: \"{}\" is always 0 V", text));
  return pair;
}

}  // namespace

NetlistPlan::NetlistPlan(Netlist netlist, NetlistChoice choice, Index features, Index values)
    : choice_(std::move(choice)), features_(features) {
  if (netlist.shunt_S == 0) netlist.shunt_S = kShunt_S;
  netlist = with_states(std::move(netlist));
  std::vector<NodePair> outputs;
  for (const std::string& name : choice_.outputs) outputs.push_back(pair_named(netlist, name));
  if (static_cast<Index>(outputs.size()) != values) {
    throw UserError(
        fmt::format("netlist.outputs has {} entries (must have {}, as many as the task has classes or values)",
                    outputs.size(), values));
  }
  equations_ = std::make_shared<const NodalEquations>(std::move(netlist), std::move(outputs));
  coordinates_ = std::make_shared<const NodeCoordinates>(*equations_, choice_.outputs);
  ports_.output_names = choice_.outputs;
  ports_.volts = choice_.volts;
  ports_.tau_s = choice_.tau_s;
  ports_.twin_mismatch = choice_.twin_mismatch;
  ports_.node_capacitance_F = choice_.node_capacitance_F;
  ports_.flicker_slowest_s = choice_.flicker_slowest_s;
  ports_.delay_s = choice_.delay_s;
  ports_.clock_s = choice_.clock_s;
  ports_.seed = choice_.seed;
  connect_inputs();
  choose_learned();
  check_outputs();
}

/// Netlist in which currents that no voltages of nodes give have a state, and inductors where nodes have capacitances.
Netlist NetlistPlan::with_states(Netlist netlist) {
  const bool charges = !choice_.node_capacitance_F.empty();
  const bool inductors = charges && std::any_of(netlist.elements.begin(), netlist.elements.end(),
                                                [](const Element& e) { return e.kind == ElementKind::inductor; });
  ports_.state_without_charge = first_branch_state(netlist) != nullptr;
  if (!inductors && !ports_.state_without_charge) return netlist;
  drawn_ = netlist;
  if (ports_.state_without_charge) netlist = with_branch_states(std::move(netlist));
  if (inductors) netlist = with_inductor_currents(std::move(netlist));
  if (charges) choice_.node_capacitance_F.resize(netlist.nodes.size(), 0.0);
  return netlist;
}

void NetlistPlan::connect_inputs() {
  const Netlist& netlist = equations_->netlist();
  const auto connect = [&](const std::vector<std::string>& names, const char* key, double scale) {
    if (static_cast<Index>(names.size()) != features_) {
      throw UserError(fmt::format("{} has {} entries (must have {}, one source per feature of a sample)", key,
                                  names.size(), features_));
    }
    ElementRow row{{}, scale, choice_.offset};
    for (const std::string& name : names) {
      const std::size_t source = source_named(netlist, name, key);
      for (const ElementRow& other : ports_.inputs) {
        if (std::count(other.elements.begin(), other.elements.end(), source) > 0) {
          throw UserError(fmt::format("{}: {} is an input already", key, name));
        }
      }
      if (std::count(row.elements.begin(), row.elements.end(), source) > 0) {
        throw UserError(fmt::format("{}: {} stands twice", key, name));
      }
      row.elements.push_back(source);
    }
    ports_.inputs.push_back(std::move(row));
  };
  connect(choice_.inputs, "netlist.inputs", choice_.scale);
  if (!choice_.mirrored.empty()) connect(choice_.mirrored, "netlist.mirrored", -choice_.scale);
}

/// Checks that something moves every output: an input, or a source that learns.
void NetlistPlan::check_outputs() const {
  std::vector<std::size_t> sources;
  for (const ElementRow& row : ports_.inputs) sources.insert(sources.end(), row.elements.begin(), row.elements.end());
  for (const ElementRow& row : ports_.learned) {
    for (const std::size_t k : row.elements) {
      if (is_source(equations_->netlist().elements[k].kind)) sources.push_back(k);
    }
  }
  const std::vector<bool> reached = reached_outputs(*equations_, sources);
  for (std::size_t k = 0; k < reached.size() && !sources.empty(); ++k) {
    if (reached[k]) continue;
    throw UserError(
        fmt::format("netlist.outputs: \"{}\" is connected to no input and no source that learns, except through "
                    "ground, a capacitor or a node with a constant source",
                    choice_.outputs[k]));
  }
}

void NetlistPlan::choose_learned() {
  const Netlist& netlist = equations_->netlist();
  std::vector<bool> taken(netlist.elements.size(), false), fed(netlist.elements.size(), false);
  for (const ElementRow& row : ports_.inputs) {
    for (const std::size_t source : row.elements) fed[source] = true;
  }
  for (const std::string& glob : choice_.learn) {
    int fitting = 0;
    for (std::size_t k = 0; k < netlist.elements.size(); ++k) {
      const Element& e = netlist.elements[k];
      const bool possible = has_resistance(e.kind) || (is_source(e.kind) && !fed[k]);
      if (!possible || !fits_glob(glob, e.name)) continue;
      if (has_resistance(e.kind) && e.value < 0) {
        throw UserError(fmt::format(
            "netlist.learn: \"{}\" matches {} ({}), whose resistance of {:g} Ohm is negative. Only resistances "
            "above 0 learn",
            glob, e.name, to_string(e.place), e.value));
      }
      taken[k] = true;
      ++fitting;
    }
    if (fitting == 0) {
      throw UserError(fmt::format(
          "netlist.learn: \"{}\" matches no resistor, no memristor, and no independent source except inputs", glob));
    }
  }
  std::vector<ElementRow> rows(kLearning.size());
  double sum = 0;
  for (std::size_t k = 0; k < netlist.elements.size(); ++k) {
    for (std::size_t p = 0; p < kLearning.size() && taken[k]; ++p) {
      if (kLearning[p].is(netlist.elements[k])) rows[p].elements.push_back(k);
    }
    if (taken[k] && has_resistance(netlist.elements[k].kind)) sum += 1 / netlist.elements[k].value;
  }
  const auto resistors = static_cast<double>(rows[0].elements.size() + rows[3].elements.size());
  ports_.siemens = choice_.conductance_S > 0 ? choice_.conductance_S : (resistors > 0 ? sum / resistors : 1e-3);
  rows[0].unit = ports_.siemens;
  rows[1].unit = ports_.volts;
  rows[2].unit = ports_.siemens * ports_.volts;
  rows[3].unit = ports_.siemens;
  const bool sources = !rows[1].elements.empty() || !rows[2].elements.empty();
  for (ElementRow& row : rows) {
    if (!row.elements.empty()) ports_.learned.push_back(std::move(row));
  }
  if ((choice_.gate_leak > 0 || choice_.gate_leak_periods > 0) && !sources) {
    throw UserError(fmt::format("netlist.{}: netlist.learn matches no source, and only sources are stored on gates",
                                choice_.gate_leak > 0 ? "gate_leak must be 0" : "gate_leak_time must be off"));
  }
  if (ports_.learned.empty())
    throw UserError(
        "netlist.learn is empty, so nothing would learn. Name resistors or "
        "sources");
}

Netlist NetlistPlan::with_values(const std::vector<Matrix<double>>& weights,
                                 const std::vector<double>& unit_heat_J) const {
  Netlist netlist = drawn_ ? *drawn_ : equations_->netlist();
  for (std::size_t p = 0; p < ports_.learned.size(); ++p) {
    const ElementRow& row = ports_.learned[p];
    const double unit = unit_heat_J[p] > 0 ? device_unit_S(ports_, unit_heat_J[p]) : row.unit;
    for (std::size_t i = 0; i < row.elements.size(); ++i) {
      Element& e = netlist.elements[row.elements[i]];
      const double value = row.offset + unit * weights[p](0, static_cast<Index>(i));
      e.value = has_resistance(e.kind) ? 1 / std::max(value, kShunt_S) : value;
    }
  }
  return netlist;
}

bool NetlistPlan::reciprocal() const {
  if (!coordinates_->reciprocal()) return false;
  const auto& elements = equations_->netlist().elements;
  return std::none_of(elements.begin(), elements.end(), [](const Element& e) {
    return (kinds_of_part(Part::nonconservative, true) & kind_bit(e.kind)) != 0;
  });
}

std::vector<std::string> NetlistPlan::notes() const { return equations_->netlist().notes; }

std::vector<Node> NetlistPlan::nodes() const {
  std::vector<Node> all;
  const Index inner = coordinates_->inner();
  for (const auto& [name, columns] :
       {std::pair("inner", Columns{0, inner}), std::pair("outputs", Columns{inner, coordinates_->outputs()})}) {
    if (columns.count == 0) continue;
    all.push_back({name, columns});
    all.back().leak = 0;
  }
  return all;
}

NodeReadout NetlistPlan::readout() const { return {-1, coordinates_->inner() > 0 ? 1 : 0, Normalization::none, -1}; }

std::vector<Parameter> NetlistPlan::parameters() const {
  std::vector<Parameter> all;
  const bool memristors = first_memristor(equations_->netlist()) != nullptr;
  for (const ElementRow& row : ports_.learned) {
    const Element& first = equations_->netlist().elements[row.elements.front()];
    const auto* of =
        std::find_if(kLearning.begin(), kLearning.end(), [&](const LearningKind& one) { return one.is(first); });
    const bool resistors = has_resistance(first.kind), devices = resistors && of->memristor == memristors;
    all.push_back({of->parameter, {1, static_cast<Index>(row.elements.size())}, devices, resistors, resistors});
    if (of->memristor) all.back().unit_S = row.unit;
    if (resistors) continue;
    all.back().leak = choice_.gate_leak;
    all.back().leak_periods = choice_.gate_leak_periods;
  }
  return all;
}

namespace {

template <class S>
void initial_values(const NetlistPlan& plan, double spread, std::uint64_t seed, std::vector<Matrix<S>>& weights) {
  weights.clear();
  const std::vector<double> values = plan.equations().values();
  const auto& elements = plan.equations().netlist().elements;
  for (const ElementRow& row : plan.ports().learned) {
    const auto count = static_cast<Index>(row.elements.size());
    const auto stream = static_cast<std::uint32_t>(weights.size());
    const Matrix<double> drawn = normal_matrix<double>(1, count, spread, seed, stream);
    Matrix<S> numbers(1, count);
    for (Index i = 0; i < count; ++i) {
      const std::size_t element = row.elements[static_cast<std::size_t>(i)];
      const bool resistor = has_resistance(elements[element].kind);
      numbers(0, i) = static_cast<S>(values[element] / row.unit * (resistor ? std::exp(drawn(0, i)) : 1.0));
    }
    weights.push_back(std::move(numbers));
  }
}

template <class S>
std::vector<std::unique_ptr<Term<S>>> netlist_terms(const NetlistPlan& plan,
                                                    std::shared_ptr<const NodalEquations> equations,
                                                    std::shared_ptr<const NodeCoordinates> coordinates,
                                                    const Maps<S>& maps) {
  std::vector<const LinearMap<S>*> learned;
  for (const auto& map : maps) learned.push_back(map.get());
  std::vector<int> nodes;
  for (std::size_t i = 0; i < plan.nodes().size(); ++i) nodes.push_back(static_cast<int>(i));
  std::vector<std::unique_ptr<Term<S>>> terms;
  terms.push_back(std::make_unique<NetlistTerm<S>>(std::move(equations), std::move(coordinates), plan.ports(),
                                                   std::move(learned), std::move(nodes)));
  return terms;
}

}  // namespace

NUDGE_PLAN(NetlistPlan, initial_values(*this, choice_.spread, seed, weights),
           netlist_terms(*this, equations_, coordinates_, maps))

}  // namespace nudge
