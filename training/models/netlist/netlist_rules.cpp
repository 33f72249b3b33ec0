// SPDX-License-Identifier: Apache-2.0
// Rules between the elements of a netlist and the keys of its training.
#include <fmt/format.h>

#include <algorithm>

#include "circuits/circuit_spec.hpp"
#include "devices/device_config.hpp"
#include "netlist/branch_states.hpp"
#include "netlist/node_capacitances.hpp"
#include "sim/base/errors.hpp"
#include "training/models/netlist/netlist_plan.hpp"

namespace nudge {
namespace {

/// Checks that currents which charge nothing are only solved for.
void check_states(const Config& config, const Netlist& netlist) {
  const Element* first = first_branch_state(netlist);
  if (first == nullptr) return;
  const std::string why =
      fmt::format("{} ({}) has a current that charges no node", first->name, to_string(first->place));
  if (config.text("relaxation.solver") != "direct") {
    throw UserError(fmt::format("relaxation.solver = {} (must be direct: {})", config.text("relaxation.solver"), why));
  }
  if (netlist_section().read(config).node_capacitance > 0)
    throw UserError(fmt::format("netlist.node_capacitance (must be auto: {}, so it has no course in time)", why));
  if (on_devices(config) && circuit_section().read(config).thermal_noise)
    throw UserError(fmt::format("circuit.thermal_noise = true (must be false: {}, so its noise is not known)", why));
}

/// Checks that the memristors of a netlist, if it has some, are the devices of the config.
void check_memristors(const Config& config, const Netlist& netlist) {
  const Element* first = first_memristor(netlist);
  if (first == nullptr) return;
  const auto learns = [globs = config.texts("netlist.learn")](const Element& e) {
    return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return fits_glob(glob, e.name); });
  };
  bool any = false;
  for (const Element& e : netlist.elements) {
    if (!e.memristor) continue;
    any = any || learns(e);
    if (e.memristor->settings == first->memristor->settings) continue;
    throw UserError(
        fmt::format("netlist.file: {} ({}) is another device than {} ({}). One training has one kind of memristor",
                    e.name, to_string(e.place), first->name, to_string(first->place)));
  }
  if (!any) {
    throw UserError(fmt::format("netlist.learn names no memristor, and the netlist has some ({}). Add \"y*\"",
                                to_string(first->place)));
  }
  if (!config.text("device.preset").empty()) {
    throw UserError(
        fmt::format("device.preset = {}: the netlist names the device of its memristors ({}, {}). Leave "
                    "the key out",
                    config.text("device.preset"), first->memristor->name, to_string(first->place)));
  }
  for (const char* key : {"crossbar.w_max", "crossbar.headroom"}) {
    if (config.at_default(key)) continue;
    throw UserError(
        fmt::format("{} = {}: memristors of a netlist have the conductances that are drawn. Leave the key "
                    "out",
                    key, config.as_text(key)));
  }
}

}  // namespace

void check_netlist_rules(const Config& config, const Netlist& netlist) {
  check_states(config, netlist);
  check_memristors(config, netlist);
}

}  // namespace nudge
