// SPDX-License-Identifier: Apache-2.0
#include "netlist/netlist_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"

namespace nudge {
namespace {

constexpr double kWritten_m = 1e-6;  // W and L of transistors

/// Writes one netlist, card by card.
class CardWriter {
 public:
  explicit CardWriter(const Netlist& netlist) : netlist_(&netlist) {}

  std::string text(const std::string& note) {
    out_ = fmt::format("{}\n* {}\n", netlist_->title, note);
    for (const Element& e : netlist_->elements) card(e);
    for (const auto& [law, name] : models_) out_ += fmt::format(".model {} {}\n", name, law);
    for (const auto& [node, volts] : netlist_->starts) {
      out_ += fmt::format(".nodeset v({})={}\n", netlist_->nodes[static_cast<std::size_t>(node)], volts);
    }
    out_ += fmt::format(".options gmin={}", netlist_->gmin_S);
    if (netlist_->shunt_S > 0) out_ += fmt::format(" rshunt={}", 1 / netlist_->shunt_S);
    return out_ + "\n.end\n";
  }

 private:
  /// Name of an element in the file; its first letter tells the kind.
  static std::string name_of(const Element& e) {
    static const char letters[] = {'r', 'c', 'v', 'i', 'd', 'e', 'g', 'f', 'h', 'm'};
    const char letter = letters[static_cast<std::size_t>(e.kind)];
    const bool plain = e.name.front() == letter && e.name.find_first_of(".#") == std::string::npos;
    return plain ? e.name : fmt::format("{}_{}", letter, e.name);
  }
  std::string nodes_of(const Element& e) const {
    std::string text;
    for (const int node : e.nodes) text += " " + (node < 0 ? "0" : netlist_->nodes[static_cast<std::size_t>(node)]);
    return text;
  }
  static std::string flicker(double factor, double power) {
    return factor > 0 ? fmt::format(" KF={} AF={}", factor, power) : "";
  }
  const std::string& model(const std::string& law) {
    return models_.emplace(law, fmt::format("model{}", models_.size() + 1)).first->second;
  }

  void card(const Element& e) {
    out_ += name_of(e) + nodes_of(e);
    switch (e.kind) {
      case ElementKind::diode:
        out_ +=
            " " + model(fmt::format("D(IS={} N={}{})", e.junction.saturation_A, e.junction.thermal_V / kSpiceThermal_V,
                                    flicker(e.flicker.factor, e.flicker.power)));
        break;
      case ElementKind::mosfet:
        out_ += " " +
                model(fmt::format(
                    "{}(LEVEL=1 VTO={} KP={} LAMBDA={} IS={} N={}{})", e.mosfet.sign < 0 ? "PMOS" : "NMOS",
                    e.mosfet.threshold_V, e.mosfet.beta_A_per_V2, e.mosfet.modulation_per_V, e.mosfet.body.saturation_A,
                    e.mosfet.body.thermal_V / kSpiceThermal_V,
                    flicker(e.flicker.factor * gate_F2(kWritten_m, kWritten_m, kDefaultOxide_m), e.flicker.power))) +
                " W=1u L=1u";
        break;
      case ElementKind::cccs:
      case ElementKind::ccvs:
        out_ += fmt::format(" {} {}", name_of(netlist_->elements[static_cast<std::size_t>(e.control)]), e.value);
        break;
      case ElementKind::voltage:
      case ElementKind::current:
        out_ += fmt::format(" DC {}", e.value);
        if (e.wave.kind != Waveform::Kind::none) out_ += " " + e.wave.text();
        break;
      default: out_ += fmt::format(" {}", e.value);
    }
    out_ += "\n";
  }

  const Netlist* netlist_;
  std::string out_;
  std::map<std::string, std::string> models_;  ///< names by their laws
};

}  // namespace

std::string netlist_text(const Netlist& netlist, const std::string& note) { return CardWriter(netlist).text(note); }

namespace {

constexpr std::size_t kMostNamed = 10;

/// Sets of nodes that are joined; ground is number 0, node i number i + 1.
class JoinedNodes {
 public:
  explicit JoinedNodes(std::size_t nodes) : parent_(nodes + 1) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }

  std::size_t root(int node) {
    auto at = static_cast<std::size_t>(node + 1);
    while (parent_[at] != at) {
      parent_[at] = parent_[parent_[at]];
      at = parent_[at];
    }
    return at;
  }

  /// Joins the sets of two nodes. False: they were joined already.
  bool join(int a, int b) {
    const std::size_t from = root(a), to = root(b);
    if (from == to) return false;
    parent_[std::max(from, to)] = std::min(from, to);  // ground stays the root of what it is joined to
    return true;
  }

 private:
  std::vector<std::size_t> parent_;
};

/// Names of the sources that join two nodes, of those before element `end`: a walk over their forest.
std::vector<std::string> path_of_sources(const Netlist& netlist, std::size_t end, int from, int to) {
  std::vector<std::vector<std::pair<int, std::size_t>>> edges(netlist.nodes.size() + 1);
  for (std::size_t i = 0; i < end; ++i) {
    const Element& e = netlist.elements[i];
    if (!has_branch(e.kind)) continue;
    edges[static_cast<std::size_t>(e.nodes[0] + 1)].push_back({e.nodes[1], i});
    edges[static_cast<std::size_t>(e.nodes[1] + 1)].push_back({e.nodes[0], i});
  }
  std::vector<std::pair<int, std::size_t>> came(netlist.nodes.size() + 1, {-2, 0});
  std::vector<int> open = {from};
  came[static_cast<std::size_t>(from + 1)] = {from, 0};
  for (std::size_t k = 0; k < open.size(); ++k) {
    for (const auto& [next, through] : edges[static_cast<std::size_t>(open[k] + 1)]) {
      if (came[static_cast<std::size_t>(next + 1)].first != -2) continue;
      came[static_cast<std::size_t>(next + 1)] = {open[k], through};
      open.push_back(next);
    }
  }
  std::vector<std::string> names;
  for (int at = to; at != from && came[static_cast<std::size_t>(at + 1)].first != -2;) {
    names.push_back(netlist.elements[came[static_cast<std::size_t>(at + 1)].second].name);
    at = came[static_cast<std::size_t>(at + 1)].first;
  }
  return names;
}

void check_loops(const Netlist& netlist) {
  JoinedNodes joined(netlist.nodes.size());
  for (std::size_t i = 0; i < netlist.elements.size(); ++i) {
    const Element& e = netlist.elements[i];
    if (!has_branch(e.kind) || joined.join(e.nodes[0], e.nodes[1])) continue;
    if (e.nodes[0] == e.nodes[1]) refuse(e.place, fmt::format("{} is shorted: both of its ends are one node", e.name));
    std::vector<std::string> names = path_of_sources(netlist, i, e.nodes[0], e.nodes[1]);
    if (names.size() > kMostNamed) names.resize(kMostNamed);
    refuse(e.place,
           fmt::format("{} closes a loop of voltage sources with {}: their voltages contradict each other or leave a "
                       "current undetermined (put a resistor into the loop)",
                       e.name, fmt::join(names, ", ")));
  }
}

void join_direct(const Element& e, JoinedNodes& joined) {
  switch (e.kind) {
    case ElementKind::resistor:
    case ElementKind::voltage:
    case ElementKind::vcvs:
    case ElementKind::ccvs:
    case ElementKind::diode: joined.join(e.nodes[0], e.nodes[1]); break;
    case ElementKind::mosfet:
      for (const int to : {e.nodes[2], e.nodes[3]}) joined.join(e.nodes[0], to);
      break;
    default: break;  // capacitors, current sources, controlled or not
  }
}

void check_paths(const Netlist& netlist, const std::string& name) {
  JoinedNodes joined(netlist.nodes.size());
  for (const Element& e : netlist.elements) join_direct(e, joined);
  std::vector<std::string> floating;
  for (std::size_t i = 0; i < netlist.nodes.size(); ++i) {
    if (joined.root(static_cast<int>(i)) != joined.root(kGround)) floating.push_back(netlist.nodes[i]);
  }
  if (floating.empty()) return;
  const std::size_t count = floating.size();
  if (count > kMostNamed) floating.resize(kMostNamed);
  throw UserError(printable_line(fmt::format(
      "{}: no path of direct current joins node{} {}{} to ground (a resistor, a source of voltage, a diode or a "
      "transistor must)",
      name, count == 1 ? "" : "s", fmt::join(floating, ", "),
      count > kMostNamed ? fmt::format(" and {} more", count - kMostNamed) : "")));
}

}  // namespace

void check_netlist(const Netlist& netlist, const std::string& name) {
  if (netlist.elements.empty()) {
    throw UserError(printable_line(fmt::format("{}: no element (the first line of a netlist is its title)", name)));
  }
  const bool grounded = std::any_of(netlist.elements.begin(), netlist.elements.end(), [](const Element& e) {
    return std::find(e.nodes.begin(), e.nodes.end(), kGround) != e.nodes.end();
  });
  if (!grounded) throw UserError(printable_line(fmt::format("{}: no element is on ground, the node 0", name)));
  check_loops(netlist);
  check_paths(netlist, name);
}

}  // namespace nudge
