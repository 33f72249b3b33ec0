// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/requirement.hpp"

namespace nudge {
namespace {

using F = const RunFacts&;

std::string where(bool broken, const std::string& text) { return broken ? text : ""; }
std::string has(const std::string& what, const char* text) { return where(!what.empty(), what + text); }

}  // namespace

std::string first_broken(const std::vector<Requirement>& needs, const RunFacts& facts) {
  for (const Requirement& need : needs) {
    if (std::string broken = need.broken(facts); !broken.empty()) return broken;
  }
  return "";
}

namespace needs {

const Requirement all_at_once = {[](F f) {
  if (f.sweeps) return std::string("relaxation.schedule must be parallel: state and adjoint move together");
  return where(f.solver == SettleSolver::coordinate,
               "relaxation.solver must move all nodes at once: state and adjoint move together. Use euler");
}};

const Requirement fixed_law = {[](F f) {
  return where(f.solver == SettleSolver::newton_gmres,
               "relaxation.solver = newton_gmres needs a Jacobian of the nudged phase, whose law follows the "
               "states. Use euler or anderson");
}};

const Requirement both_sides = {
    [](F f) { return where(!f.centered, "nudge.sides must be centered: it needs both nudges"); }};

const Requirement energy = {[](F f) {
  return where(!f.has_energy, "it contrasts energies, which network.kind = " + f.network +
                                  " does not have for its whole force. Use ep, or aep_transposed where the force is "
                                  "not reciprocal");
}};

const Requirement layer_energies = {[](F f) {
  return f.without_layer_energy.value_or("network.kind = " + f.network +
                                         " does not have an energy per layer and a read-out that learns from the "
                                         "cost");
}};

const Requirement no_bath = {[](F f) {
  return where(f.solver == SettleSolver::sample,
               "relaxation.solver = sample draws states of a bath, and only finite_nudge learns from them");
}};

const Requirement bath = {[](F f) {
  return where(f.solver != SettleSolver::sample,
               "relaxation.solver must be sample: it averages over the states of a bath (network.kind = thermal)");
}};

const Requirement solves_itself = {[](F f) {
  return where(f.solver != SettleSolver::direct,
               "relaxation.solver must be direct: it needs a circuit that solves itself (a netlist)");
}};

const Requirement moves_itself = {[](F f) {
  return where(f.solver == SettleSolver::direct,
               "relaxation.solver = direct solves the circuit's own equations, which have no corrected or anchored "
               "force");
}};

const Requirement euler = {[](F f) {
  return where(!steps_in_time(f.solver), "relaxation.solver must be euler or second_order, whose steps it follows");
}};

const Requirement unit_sweeps = {[](F f) {
  return where(f.sweeps && !(f.feed_forward && f.step == 1),
               "relaxation.schedule must be parallel unless relaxation.step = 1 and every node is driven by earlier "
               "ones alone");
}};

const Requirement summed_gradient = {[](F f) {
  return where(f.products,
               "crossbar.update must not be coincidence, whose pulses multiply at the devices: this needs the "
               "summed gradient of a batch");
}};

const Requirement still_input = {[](F f) {
  return where(f.moving_input,
               "data.frames must be 1: inputs that change in time leave no equilibrium. Use bptt, or echo where nodes "
               "have a mass");
}};

const Requirement moving_input = {[](F f) {
  return where(!f.moving_input,
               "data.frames must be above 1: it learns from a trajectory, on inputs that change in time");
}};

const Requirement undamped = {[](F f) {
  if (f.solver != SettleSolver::second_order)
    return std::string("relaxation.solver must be second_order: it turns the speeds of the nodes round");
  return has(f.states.boxed, " keeps states in a box, from whose walls no speed comes back");
}};

const Requirement step_of_nudge = {[](F f) {
  const bool own_steps = f.solver == SettleSolver::direct || f.solver == SettleSolver::coordinate;
  return where(
      own_steps && !f.exact_nudge,
      std::string("relaxation.solver = ") + to_string(f.solver) +
          " has no step for a nudge by your own network.cost. Use auto, nudge.cost_current = frozen, or solver euler");
}};

const Requirement no_sweeps = {
    [](F f) { return where(f.sweeps, "relaxation.schedule must not be sweep, whose steps have no duration"); }};

const Requirement no_box = {
    [](F f) { return has(f.states.boxed, " keeps states in a box, and it does not project onto a box"); }};

const Requirement no_stiffness = {[](F f) {
  return has(f.states.stiff,
             " has diodes whose slope in conduction is hundreds of times the load of the resistors, too steep for "
             "steps of all nodes at once");
}};

const Requirement one_time = {
    [](F f) { return has(f.states.timed, " gives nodes different times, and it moves all nodes with one"); }};

const Requirement one_noise = {[](F f) {
  return where(f.node_noise, has(f.states.unequal,
                                 " gives nodes different kT/C, and its samples have one. Set it to [], or "
                                 "circuit.thermal_noise = false"));
}};

const Requirement no_amplifiers = {[](F f) {
  return where(f.lags,
               "amplifiers must be infinitely fast (circuit.gain_bandwidth = infinite, circuit.amplifier_bandwidth "
               "= auto): it simulates none between force and node");
}};

const Requirement equal_leaks = {
    [](F f) { return where(f.unequal_leaks, "circuit.leak_spread must be 0: its steps follow the nominal leak"); }};

const Requirement quiet_reads = {[](F f) {
  return where(f.noisy_reads,
               "it cannot follow fresh noise of reads. Set device.read_noise = 0, device.read_saturating = 0, "
               "device.noise_white empty, a device.model without its own noise, and no slow noise within "
               "circuit.noise_within_phases");
}};

const Requirement ideal_devices = {
    [](F f) { return where(f.physical, "hardware.level must be ideal on devices: it does not follow their noise"); }};

const Requirement known_loads = {[](F f) {
  return where(!f.states.loads, "units of network.kind = " + f.network +
                                    " act on each other within a node, or their load depends on the state");
}};

const Requirement own_solution = {[](F f) {
  return where(!f.states.direct, "network.kind = " + f.network + " does not solve its own equations (a netlist does)");
}};

const Requirement own_bath = {
    [](F f) { return where(!f.states.bath, "network.kind = " + f.network + " is not in a heat bath (thermal is)"); }};

const Requirement quiet_nodes = {[](F f) {
  return where(f.node_noise, "circuit.thermal_noise must be false on devices: the bath is the noise of the nodes");
}};

const Requirement short_steps = {
    [](F f) { return where(f.step >= 2, "relaxation.step must be below 2, divided by the leak of 1 of its units"); }};

}  // namespace needs

}  // namespace nudge
