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
               "relaxation.solver must move all nodes at once (take euler): state and adjoint move together");
}};

const Requirement fixed_law = {[](F f) {
  return where(f.solver == SettleSolver::newton_gmres,
               "relaxation.solver = newton_gmres needs a Jacobian of the nudged phase, and its law follows the states "
               "(take euler or anderson)");
}};

const Requirement both_sides = {
    [](F f) { return where(!f.centered, "nudge.sides must be centered: it needs both nudges"); }};

const Requirement energy = {[](F f) {
  return where(!f.has_energy, "it contrasts energies, which network.kind = " + f.network +
                                  " has not for its whole force (ep, or aep_transposed where the force is not "
                                  "reciprocal)");
}};

const Requirement layer_energies = {[](F f) {
  return f.without_layer_energy.value_or("network.kind = " + f.network +
                                         " has no energy per layer beside a read-out that learns from the cost");
}};

const Requirement no_bath = {[](F f) {
  return where(f.solver == SettleSolver::sample,
               "relaxation.solver = sample draws states of a bath, which finite_nudge alone learns from");
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
  return where(f.solver != SettleSolver::euler, "relaxation.solver must be euler, whose steps it follows");
}};

const Requirement unit_sweeps = {[](F f) {
  return where(f.sweeps && !(f.feed_forward && f.step == 1),
               "relaxation.schedule must be parallel unless relaxation.step = 1 and every node is driven by earlier "
               "ones alone");
}};

const Requirement summed_gradient = {[](F f) {
  return where(f.products,
               "crossbar.update must not be coincidence, whose pulses multiply at the devices: it changes the gradient "
               "that a batch sums up");
}};

const Requirement step_of_nudge = {[](F f) {
  const bool own_steps = f.solver == SettleSolver::direct || f.solver == SettleSolver::coordinate;
  return where(
      own_steps && !f.exact_nudge,
      std::string("relaxation.solver = ") + to_string(f.solver) +
          " has no step for a nudge by a network.cost of one's own (take auto, nudge.cost_current = frozen, or "
          "solver euler)");
}};

const Requirement no_sweeps = {
    [](F f) { return where(f.sweeps, "relaxation.schedule must not be sweep, whose steps are no time"); }};

const Requirement no_box = {
    [](F f) { return has(f.states.boxed, " keeps states in a box, onto which it does not project"); }};

const Requirement no_stiffness = {[](F f) {
  return has(f.states.stiff,
             " has diodes whose slope, where they conduct, is hundreds of times the load of the resistors, beyond any "
             "step of all nodes");
}};

const Requirement one_time = {
    [](F f) { return has(f.states.timed, " gives nodes times of their own, and it moves all in one"); }};

const Requirement one_noise = {[](F f) {
  return where(f.node_noise, has(f.states.unequal,
                                 " gives nodes a kT/C of their own, and its samples have one (set it to [], or "
                                 "circuit.thermal_noise = false)"));
}};

const Requirement no_amplifiers = {[](F f) {
  return where(f.lags,
               "amplifiers must be infinitely fast (circuit.gain_bandwidth = infinite, circuit.amplifier_bandwidth = "
               "auto): it knows none between force and node");
}};

const Requirement equal_leaks = {
    [](F f) { return where(f.unequal_leaks, "circuit.leak_spread must be 0: its steps follow the nominal leak"); }};

const Requirement quiet_reads = {[](F f) {
  return where(
      f.noisy_reads,
      "it follows no noise, and reads must have none that is fresh: device.read_noise = 0, "
      "device.read_saturating = 0, device.noise_white empty, no noise of device.model's own, and no slow noise that "
      "circuit.noise_within_phases lets move");
}};

const Requirement ideal_devices = {
    [](F f) { return where(f.physical, "hardware.level must be ideal on devices, whose noise it does not follow"); }};

const Requirement known_loads = {[](F f) {
  return where(!f.states.loads, "units of network.kind = " + f.network +
                                    " act on each other within a node, or are loaded by what they do");
}};

const Requirement own_solution = {[](F f) {
  return where(!f.states.direct,
               "network.kind = " + f.network + " does not solve its own equations, as a netlist does");
}};

const Requirement own_bath = {
    [](F f) { return where(!f.states.bath, "network.kind = " + f.network + " is in no bath, as thermal is"); }};

const Requirement quiet_nodes = {[](F f) {
  return where(f.node_noise, "circuit.thermal_noise must be false on devices: the bath is the noise of the nodes");
}};

const Requirement short_steps = {
    [](F f) { return where(f.step >= 2, "relaxation.step must be below 2, over the leak of 1 of its units"); }};

}  // namespace needs

}  // namespace nudge
