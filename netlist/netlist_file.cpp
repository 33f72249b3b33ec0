// SPDX-License-Identifier: Apache-2.0
#include "netlist/netlist_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <numeric>

#include "sim/base/bounded_read.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"
#include "sim/io/decoded_text.hpp"

namespace nudge {
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
    case ElementKind::curved_resistor:
    case ElementKind::voltage:
    case ElementKind::vcvs:
    case ElementKind::ccvs:
    case ElementKind::formula_voltage:
    case ElementKind::inductor:
    case ElementKind::diode: joined.join(e.nodes[0], e.nodes[1]); break;
    case ElementKind::formula_current:  // a switch, or a current that the voltage across it sets
      for (std::size_t k = 2; k + 1 < e.nodes.size(); k += 2) {
        const bool own = std::minmax(e.nodes[k], e.nodes[k + 1]) == std::minmax(e.nodes[0], e.nodes[1]);
        if (own) joined.join(e.nodes[0], e.nodes[1]);
      }
      break;
    case ElementKind::bipolar:
      for (const int to : e.nodes) joined.join(e.nodes[0], to);
      break;
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

namespace {

std::string read_text(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    throw UserError(fmt::format("netlist file \"{}\": {}", file.string(),
                                std::filesystem::exists(file, error) ? "is no regular file" : "no such file"));
  }
  std::ifstream stream(file, std::ios::binary);
  const std::string text =
      read_bounded(stream, fmt::format("netlist file \"{}\"", file.string()), expected_bytes(file.string()));
  if (!stream.is_open() || stream.bad())
    throw UserError(fmt::format("netlist file \"{}\": cannot be read", file.string()));
  std::string encoding;
  return decoded_text(text, file.string(), encoding);
}

}  // namespace

Netlist read_netlist(const std::filesystem::path& file, const NetlistLimit& limit, const MemristorSource& devices) {
  const ReadInclude include = [](const std::string& name, const std::string& from, std::string& path) {
    std::string written = name;
    std::replace(written.begin(), written.end(), '\\', '/');  // of Windows
    const std::filesystem::path found = std::filesystem::path(from).parent_path() / written;
    path = found.string();
    return read_text(found);
  };
  return parse_netlist(file.string(), read_text(file), include, limit, devices);
}

namespace {

bool same_name(const std::string& a, const std::string& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

const Element* first_memristor(const Netlist& netlist) {
  for (const Element& e : netlist.elements) {
    if (e.memristor) return &e;
  }
  return nullptr;
}

int find_node(const Netlist& netlist, const std::string& name) {
  const auto found = std::find_if(netlist.nodes.begin(), netlist.nodes.end(),
                                  [&](const std::string& node) { return same_name(node, name); });
  return found == netlist.nodes.end() ? -1 : static_cast<int>(found - netlist.nodes.begin());
}

int find_element(const Netlist& netlist, const std::string& name) {
  const auto found = std::find_if(netlist.elements.begin(), netlist.elements.end(),
                                  [&](const Element& element) { return same_name(element.name, name); });
  return found == netlist.elements.end() ? -1 : static_cast<int>(found - netlist.elements.begin());
}

}  // namespace nudge
