// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/requirement.hpp"

#include "sim/steady/solvers.hpp"

namespace nudge::needs {

const Requirement all_at_once = {[](const RunFacts& f) -> std::string {
  if (f.sweeps) return "relaxation.schedule must be parallel: state and adjoint move together";
  return f.solver == SettleSolver::coordinate
             ? "relaxation.solver must move all nodes at once (take euler): state and adjoint move together"
             : "";
}};

const Requirement fixed_law = {[](const RunFacts& f) -> std::string {
  return f.solver == SettleSolver::newton_gmres
             ? "relaxation.solver = newton_gmres needs a Jacobian of the nudged phase, and its law follows the "
               "states (take euler or anderson)"
             : "";
}};

const Requirement both_sides = {[](const RunFacts& f) -> std::string {
  return f.centered ? "" : "nudge.sides must be centered: it needs both nudges";
}};

const Requirement energy = {[](const RunFacts& f) -> std::string {
  return f.has_energy ? ""
                      : "it contrasts energies, which network.kind = " + f.network +
                            " has not for its whole force (ep, or aep_transposed where the force is not reciprocal)";
}};

const Requirement layer_energies = {[](const RunFacts& f) -> std::string {
  return f.without_layer_energy.value_or("network.kind = " + f.network +
                                         " has no energy per layer beside a read-out that learns from the cost");
}};

const Requirement no_bath = {[](const RunFacts& f) -> std::string {
  return f.solver == SettleSolver::sample
             ? "relaxation.solver = sample draws states of a bath, which finite_nudge alone learns from"
             : "";
}};

const Requirement bath = {[](const RunFacts& f) -> std::string {
  return f.solver == SettleSolver::sample
             ? ""
             : "relaxation.solver must be sample: it averages over the states of a bath (network.kind = thermal)";
}};

const Requirement solves_itself = {[](const RunFacts& f) -> std::string {
  return f.solver == SettleSolver::direct
             ? ""
             : "relaxation.solver must be direct: it needs a circuit that solves itself (a netlist)";
}};

const Requirement moves_itself = {[](const RunFacts& f) -> std::string {
  return f.solver == SettleSolver::direct ? "relaxation.solver = direct solves the circuit's own equations, which "
                                            "have no corrected or anchored force"
                                          : "";
}};

const Requirement euler_steps = {[](const RunFacts& f) -> std::string {
  if (f.solver != SettleSolver::euler) return "relaxation.solver must be euler, whose steps it unrolls";
  return f.sweeps && !(f.feed_forward && f.whole_steps)
             ? "relaxation.schedule must be parallel unless relaxation.step = 1 and every node is driven by earlier "
               "ones alone"
             : "";
}};

}  // namespace nudge::needs
