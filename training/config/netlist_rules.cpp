// SPDX-License-Identifier: Apache-2.0
// What a network that is a netlist asks of the solver, and the solver of it.
#include "devices/device_config.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/rows.hpp"
#include "training/config/run_options.hpp"
#include "training/models/netlist/netlist_plan.hpp"

namespace nudge {
namespace {

NetlistKeys drawn(const Config& c) { return netlist_section().read(c); }
bool solves_itself(const Config& c) { return phase_options(c).phases.free.solver == SettleSolver::direct; }

ConfigRule samples_have_one_capacitance() {
  return {
      {"netlist.capacitances", "circuit.thermal_noise", "relaxation.solver", "device.model"}, [](const Config& c) {
        const bool sampled = c.flag("circuit.thermal_noise") && on_devices(c) && solves_itself(c);
        return sampled && !drawn(c).capacitances.empty()
                   ? "must be [] where samples of relaxation.solver = direct have thermal noise: all nodes have one "
                     "kT/C, that of netlist.node_capacitance (circuit.thermal_noise = false, or solver euler)"
                   : "";
      }};
}

/// Where time passes: steps of Euler's method, reads before a phase has settled, frequencies, and samples with kT/C.
ConfigRule time_has_capacitances() {
  return {{"netlist.node_capacitance", "relaxation.solver", "estimator", "netlist.delay", "netlist.clock"},
          [](const Config& c) {
            const NetlistKeys keys = drawn(c);
            if (keys.node_capacitance == 0) return "";
            const SettleSolver solver = phase_options(c).phases.free.solver;
            if (solver == SettleSolver::rk4 || solver == SettleSolver::dopri5)
              return "must be auto for a relaxation.solver that moves all nodes in one time (take euler or direct)";
            const bool noisy = on_devices(c) && c.flag("circuit.thermal_noise");
            const bool idle = solves_itself(c) && !keys.timed() && !noisy && run_options(c).estimator != "frequency";
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

std::vector<ConfigRule> netlist_rules() {
  return {{{"relaxation.solver", "network.kind"},
           [](const Config& c) {
             return c.text("relaxation.solver") == "direct" && c.text("network.kind") != "netlist"
                        ? "must not be direct unless network.kind = netlist: other networks do not solve their own "
                          "equations"
                        : "";
           }},
          samples_have_one_capacitance(),
          time_has_capacitances(),
          delay_within_clock(),
          one_way_to_leak(),
          {{"train.beside", "network.kind"}, [](const Config& c) {
             return c.text("train.beside") == "feed_forward" && c.text("network.kind") == "netlist"
                        ? "must not be feed_forward for network.kind = netlist, which has no layers whose widths a "
                          "perceptron could have"
                        : "";
           }}};
}

}  // namespace nudge
