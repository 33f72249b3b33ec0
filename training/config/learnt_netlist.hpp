// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "circuits/netlist/netlist_ports.hpp"
#include "devices/device_spec.hpp"
#include "netlist/nodal_equations.hpp"
#include "sim/config/config.hpp"

namespace nudge {

/// Circuit of a run of network.kind = netlist, with its values at the start (in its devices, if it has some) and its learnt values.
struct LearntNetlist {
  Netlist before, after;
  std::vector<std::size_t> learned, inputs;  ///< numbers of elements
  std::vector<NodePair> outputs;
  std::vector<ElementRow> feeds = {};     ///< inputs by rows of features
  std::optional<DeviceSpec> device = {};  ///< device of the run; none: numbers
  std::optional<Config> config = {};      ///< config of the run
};

/// Reads the circuit of a run file, in the netlist that the config names or in `file`. UserError for a run of another network, and for a
/// netlist that is missing or has other elements.
LearntNetlist learnt_netlist(const std::filesystem::path& run, const std::string& file = "");

}  // namespace nudge
