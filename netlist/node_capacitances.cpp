// SPDX-License-Identifier: Apache-2.0
#include "netlist/node_capacitances.hpp"

#include <fmt/format.h>

#include <cctype>

#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

/// Capacitance by a law of a transistor between nodes, from number `from` of the element's on.
struct FaradsOf {
  const Element* element;
  const double* v;
  double at(std::size_t i) const {
    const int node = element->nodes[i];
    return node < 0 ? 0 : v[node];
  }
  static constexpr std::size_t kDevice = 4;  // its transistor's first node

  double operator()(const JunctionCharge& charge) const { return charge.farads(at(0) - at(1)); }
  double operator()(const GateCharge& charge) const {
    const double source = at(kDevice + 2);
    return charge.farads(at(kDevice + 1) - source, at(kDevice) - source, at(kDevice + 3) - source);
  }
  double operator()(const TransitCharge& charge) const {
    const double base = at(kDevice + 1);
    return charge.farads(base - at(kDevice + 2), base - at(kDevice));
  }
};

}  // namespace

double farads_at(const Element& e, const double* v) {
  return e.charge ? std::visit(FaradsOf{&e, v}, *e.charge) : e.value;
}

std::vector<double> node_capacitances(const Netlist& netlist, double everywhere_F,
                                      const std::vector<std::string>& entries, const std::string& key) {
  std::vector<double> all(netlist.nodes.size(), everywhere_F);
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos) {
      throw UserError(fmt::format("{}: \"{}\" must be NODE = CAPACITANCE, as \"out = 200 fF\"", key, entry));
    }
    std::string name = entry.substr(0, equals);
    std::erase_if(name, [](unsigned char c) { return std::isspace(c) != 0; });
    double farad = 0;
    try {
      farad = parse_quantity(entry.substr(equals + 1), Unit::farad);
    } catch (const UserError& error) {
      throw UserError(fmt::format("{}: \"{}\": {}", key, entry, error.what()));
    }
    if (!(farad >= 0)) throw UserError(fmt::format("{}: \"{}\" must be at least 0 F", key, entry));
    bool fits = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!fits_glob(name, netlist.nodes[i])) continue;
      all[i] = farad;
      fits = true;
    }
    if (!fits) {
      throw UserError(
          fmt::format("{}: the netlist has no node \"{}\" ({})", key, name, did_you_mean(name, netlist.nodes)));
    }
  }
  return all;
}

bool fits_glob(const std::string& glob, const std::string& name) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  std::size_t g = 0, n = 0, star = std::string::npos, mark = 0;
  while (n < name.size()) {
    if (g < glob.size() && (glob[g] == '?' || (glob[g] != '*' && same(glob[g], name[n])))) {
      ++g;
      ++n;
    } else if (g < glob.size() && glob[g] == '*') {
      star = g++;
      mark = n;
    } else if (star != std::string::npos) {
      g = star + 1;
      n = ++mark;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

}  // namespace nudge
