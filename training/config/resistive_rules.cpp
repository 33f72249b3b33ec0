// SPDX-License-Identifier: Apache-2.0
// What the solvers of a network whose nodes are joined by its devices themselves ask of it.
#include <fmt/format.h>

#include "circuits/linear_map_factory.hpp"
#include "circuits/rules/rule_kinds.hpp"
#include "devices/registry.hpp"
#include "training/config/rows.hpp"

namespace nudge {
std::vector<ConfigRule> resistive_rules() {
  std::vector<ConfigRule> rules;
  rules.push_back(
      {{"relaxation.solver", "network.kind"}, [](const Config& c) {
         const std::string& solver = c.text("relaxation.solver");
         const bool resistive = c.text("network.kind") == "resistive";
         if (resistive && solver != "euler" && solver != "coordinate") {
           return "must be euler or coordinate for network.kind = resistive, whose states diodes bound";
         }
         return !resistive && solver == "coordinate"
                    ? "must not be coordinate unless network.kind = resistive: units of other networks act on "
                      "each other within a node, or are loaded by what they do"
                    : "";
       }});
  rules.push_back(
      {{"relaxation.solver", "resistive.diode", "network.kind"}, [](const Config& c) {
         const bool shockley = c.text("network.kind") == "resistive" && c.text("resistive.diode") == "shockley";
         return shockley && c.text("relaxation.solver") != "coordinate"
                    ? "must be coordinate for resistive.diode = shockley: where a diode conducts its slope is "
                      "hundreds of times the load of the resistors, beyond any step of the others"
                    : "";
       }});
  rules.push_back({{"circuit.temperature", "resistive.diode", "network.kind"}, [](const Config& c) {
                     const bool shockley =
                         c.text("network.kind") == "resistive" && c.text("resistive.diode") == "shockley";
                     return shockley && c.real("circuit.temperature") == 0
                                ? "must be above 0 for resistive.diode = shockley, whose voltages are in units of k T/q"
                                : "";
                   }});
  rules.push_back({{"crossbar.update", "network.kind", "device.model"}, [](const Config& c) {
                     const RuleKind* rule = find_rule(c.text("crossbar.update"));
                     const std::string& kind = c.text("network.kind");
                     const bool resistors = kind == "resistive" || kind == "netlist";
                     return resistors && rule != nullptr && (rule->arrays(RuleSpec{}) > 1 || rule->one_sided) &&
                                    c.text("device.model") != digital_model
                                ? fmt::format(
                                      "must be a rule of single devices for network.kind = {}, whose weights "
                                      "are the conductances of bare devices",
                                      kind)
                                : std::string();
                   }});
  return rules;
}

}  // namespace nudge
