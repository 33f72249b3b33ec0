// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/node_capacitances.hpp"

#include <fmt/format.h>

#include <cctype>

#include "circuits/netlist/glob.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

std::string without_blanks(const std::string& text) {
  std::string left;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) left += c;
  }
  return left;
}

}  // namespace

std::vector<double> node_capacitances(const Netlist& netlist, double everywhere_F,
                                      const std::vector<std::string>& entries, const std::string& key) {
  std::vector<double> all(netlist.nodes.size(), everywhere_F);
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos) {
      throw UserError(fmt::format("{}: \"{}\" must be NODE = CAPACITANCE, as \"out = 200 fF\"", key, entry));
    }
    const std::string name = without_blanks(entry.substr(0, equals));
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

}  // namespace nudge
