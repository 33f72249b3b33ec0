// SPDX-License-Identifier: Apache-2.0
// What a network that is a netlist asks of the solver, and the solver of it.
#include "training/config/rows.hpp"

namespace nudge {

std::vector<ConfigRule> netlist_rules() {
  return {{{"relaxation.solver", "network.kind"},
           [](const Config& c) {
             return c.text("relaxation.solver") == "direct" && c.text("network.kind") != "netlist"
                        ? "must not be direct unless network.kind = netlist: other networks do not solve their own "
                          "equations"
                        : "";
           }},
          {{"circuit.thermal_noise", "relaxation.solver", "network.kind", "device.model"},
           [](const Config& c) {
             const bool moves = c.flag("circuit.thermal_noise") && c.text("device.model") != "digital";
             return moves && c.text("network.kind") == "netlist" && c.text("relaxation.solver") != "direct"
                        ? "must be false for network.kind = netlist, or relaxation.solver direct: what pushes a node "
                          "that is "
                          "loaded by curved elements is not modelled, what a sample of it has is"
                        : "";
           }},
          {{"train.beside", "network.kind"}, [](const Config& c) {
             return c.text("train.beside") == "feed_forward" && c.text("network.kind") == "netlist"
                        ? "must not be feed_forward for network.kind = netlist, which has no layers whose widths a "
                          "perceptron could have"
                        : "";
           }}};
}

}  // namespace nudge
