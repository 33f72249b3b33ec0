// SPDX-License-Identifier: Apache-2.0
// What the times of a netlist ask of each other.
#include "devices/device_config.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/rows.hpp"
#include "training/config/run_options.hpp"
#include "training/models/netlist/netlist_plan.hpp"

namespace nudge {
namespace {

NetlistKeys drawn(const Config& c) { return netlist_section().read(c); }

/// Where time passes: steps of Euler's method, reads before a phase has settled, frequencies, and samples with kT/C.
ConfigRule time_has_capacitances() {
  return {{"netlist.node_capacitance", "relaxation.solver", "estimator", "netlist.delay", "netlist.clock"},
          [](const Config& c) {
            const NetlistKeys keys = drawn(c);
            if (keys.node_capacitance == 0) return "";
            const bool direct = phase_options(c).phases.free.solver == SettleSolver::direct;
            const bool noisy = on_devices(c) && c.flag("circuit.thermal_noise");
            const bool idle = direct && !keys.timed() && !noisy && run_options(c).estimator != "frequency";
            return idle ? "must be auto: direct solutions take no time (netlist.delay, netlist.clock, estimator = "
                          "frequency, or solver euler would)"
                        : "";
          }};
}

ConfigRule delay_within_clock() {
  return {{"netlist.delay", "netlist.clock"}, [](const Config& c) {
            const NetlistKeys keys = drawn(c);
            return keys.clock > 0 && keys.delay > keys.clock
                       ? "must be at most netlist.clock: a phase is over after its period"
                       : "";
          }};
}

ConfigRule one_way_to_leak() {
  return {{"netlist.gate_leak_time", "netlist.gate_leak"}, [](const Config& c) {
            const NetlistKeys keys = drawn(c);
            return keys.gate_leak > 0 && keys.gate_leak_time > 0
                       ? "must be off beside netlist.gate_leak, which says the same by the step"
                       : "";
          }};
}

}  // namespace

std::vector<ConfigRule> netlist_rules() { return {time_has_capacitances(), delay_within_clock(), one_way_to_leak()}; }

}  // namespace nudge
