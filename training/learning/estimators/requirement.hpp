// SPDX-License-Identifier: Apache-2.0
// What fits what: an estimator, a solver, a schedule states what it needs of a run, in facts and not in names of networks that it would have
// to know. `config check`, gradcheck and the run read the one list.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/settle.hpp"

namespace nudge {

/// Facts of a network's states that solvers go by. A text names the key that makes the fact true; empty: it is false.
struct StateFacts {
  std::string boxed = {};    ///< kept in a box (DynamicsTraits::box)
  std::string stiff = {};    ///< pulled back beyond any step of all nodes at once
  std::string timed = {};    ///< nodes have time constants of their own
  std::string unequal = {};  ///< nodes have capacitances of their own, and no one kT/C
  bool loads = false;        ///< the load of a unit is known and stands still (Layered::loads)
  bool direct = false;       ///< the system solves itself (Dynamics::direct)
  bool bath = false;         ///< the system is in a bath (Capabilities::bath)
};

/// Facts of a run that estimators, solvers, schedules and forms of nudges ask for.
struct RunFacts {
  std::string network;  ///< the kind, for words
  bool has_energy =
      false;  ///< the whole force is minus the gradient of an energy whose terms have the contrastive rule
  bool feed_forward = false;  ///< every node is driven by earlier ones alone
  /// Weights that have no energy of their layer, in words; empty: all have one. Nothing: the network has no such energies.
  std::optional<std::string> without_layer_energy = {};
  StateFacts states = {};
  SettleSolver solver = SettleSolver::euler;
  bool sweeps = false;
  double step = 0;            ///< relaxation.step; 0: it follows the leak
  bool centered = true;       ///< nudge.sides
  bool moving_input = false;  ///< data.frames: a trajectory in place of an equilibrium
  bool exact_nudge = true;    ///< by a cost, or a frozen current, whose step solvers of their own can take
  bool lags = false;          ///< amplifiers have a bandwidth
  bool unequal_leaks = false;
  bool node_noise = false;   ///< thermal, of nodes on devices
  bool physical = false;     ///< devices and circuits whose noise is on
  bool noisy_reads = false;  ///< fresh noise
  bool products = false;     ///< pulses multiply at the devices: no gradient is summed
};

/// Requirement of one piece of a run on the rest.
struct Requirement {
  /// Returns the mistake and its remedy; empty: the requirement is fulfilled.
  std::string (*broken)(const RunFacts& facts);

  bool operator==(const Requirement&) const = default;
};

/// Text of the first broken requirement; empty: all are fulfilled.
std::string first_broken(const std::vector<Requirement>& needs, const RunFacts& facts);

namespace needs {
extern const Requirement all_at_once;  ///< state and adjoint of all nodes move together: no sweeps
extern const Requirement
    fixed_law;  ///< no solver that linearises the law of the nudged phase, which follows the states
extern const Requirement both_sides;       ///< nudge.sides = centered
extern const Requirement energy;           ///< the whole force has an energy
extern const Requirement layer_energies;   ///< every layer has an energy, beside a read-out that learns from the cost
extern const Requirement no_bath;          ///< states that settle
extern const Requirement bath;             ///< states that are drawn
extern const Requirement solves_itself;    ///< a circuit with a solver of its own (Dynamics::direct)
extern const Requirement moves_itself;     ///< none: the nudged law differs from the circuit's
extern const Requirement euler;            ///< steps of one length
extern const Requirement unit_sweeps;      ///< the sweep that is a forward pass, or none
extern const Requirement summed_gradient;  ///< a gradient is summed for every parameter
extern const Requirement still_input;      ///< inputs that stand still: an equilibrium
extern const Requirement moving_input;     ///< inputs that change in time
extern const Requirement undamped;         ///< nodes with mass and without a box, which go back the way they came
extern const Requirement step_of_nudge;    ///< a solver with steps of its own knows the nudge's step

// Of solvers, schedules and forms of nudges.
extern const Requirement no_sweeps;  ///< steps that are time
extern const Requirement no_box;
extern const Requirement no_stiffness;
extern const Requirement one_time;       ///< all nodes have one time constant
extern const Requirement one_noise;      ///< all nodes have the same noise
extern const Requirement no_amplifiers;  ///< no amplifiers between force and node
extern const Requirement equal_leaks;
extern const Requirement quiet_reads;
extern const Requirement ideal_devices;
extern const Requirement known_loads;   ///< the load of every unit is known
extern const Requirement own_solution;  ///< the network's
extern const Requirement own_bath;      ///< the network's
extern const Requirement quiet_nodes;   ///< no thermal noise beside the bath's
extern const Requirement short_steps;   ///< stable over a leak of 1
}  // namespace needs

}  // namespace nudge
