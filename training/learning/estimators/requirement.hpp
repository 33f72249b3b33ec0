// SPDX-License-Identifier: Apache-2.0
// What fits what: an estimator states what it needs of a run, in facts and not in names of networks or solvers that it would have to know.
// `config check` and the run read the one list.
#pragma once

#include <optional>
#include <string>

#include "sim/settle.hpp"

namespace nudge {

/// What a run is like, as far as estimators ask.
struct RunFacts {
  std::string network;  ///< the kind, for words
  bool has_energy =
      false;  ///< the whole force is minus the gradient of an energy whose terms have the contrastive rule
  bool feed_forward = false;  ///< every node is driven by earlier ones alone
  /// Weights that have no energy of their layer, in words; empty: all have one. Nothing: the network has no such energies.
  std::optional<std::string> without_layer_energy = {};
  SettleSolver solver = SettleSolver::euler;
  bool sweeps = false;
  bool whole_steps = false;  ///< relaxation.step = 1
  bool centered = true;      ///< nudge.sides
};

/// One thing that a piece of a run asks of the rest.
struct Requirement {
  /// What is wrong and what to do; empty: it is fulfilled.
  std::string (*broken)(const RunFacts& facts);

  bool operator==(const Requirement&) const = default;
};

namespace needs {
extern const Requirement all_at_once;  ///< state and adjoint of all nodes move together: no sweeps
extern const Requirement
    fixed_law;  ///< no solver that linearises the law of the nudged phase, which follows the states
extern const Requirement both_sides;      ///< nudge.sides = centered
extern const Requirement energy;          ///< of the whole force
extern const Requirement layer_energies;  ///< of every layer beside a read-out that learns from the cost
extern const Requirement no_bath;         ///< states that settle
extern const Requirement bath;            ///< states that are drawn
extern const Requirement solves_itself;   ///< a circuit with a solver of its own (Dynamics::direct)
extern const Requirement moves_itself;    ///< none: the nudged law is not that of the circuit
extern const Requirement euler_steps;     ///< steps that can be unrolled
}  // namespace needs

}  // namespace nudge
