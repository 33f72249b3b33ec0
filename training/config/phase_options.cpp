// SPDX-License-Identifier: Apache-2.0
#include "training/config/phase_options.hpp"

#include "sim/config/reading.hpp"
#include "sim/settle.hpp"
#include "training/learning/estimators/estimator_keys.hpp"

namespace nudge {
namespace {

const Choices<RelaxationSchedule> relaxation_schedules{{"parallel", RelaxationSchedule::parallel},
                                                       {"sweep", RelaxationSchedule::sweep}};

std::pair<const char*, SettleSolver> named_by_itself(SettleSolver solver) { return {to_string(solver), solver}; }

const Choices<SettleSolver> solvers{
    named_by_itself(SettleSolver::euler),      named_by_itself(SettleSolver::second_order),
    named_by_itself(SettleSolver::rk4),        named_by_itself(SettleSolver::dopri5),
    named_by_itself(SettleSolver::anderson),   named_by_itself(SettleSolver::newton_gmres),
    named_by_itself(SettleSolver::coordinate), named_by_itself(SettleSolver::direct),
    named_by_itself(SettleSolver::sample)};

}  // namespace

const Section<PhaseOptions>& phase_section() {
  using param::choice, param::integer, param::named, param::real, param::zero_is;
  static const Section<PhaseOptions> section = [] {
    Section<PhaseOptions> all = {
        field(
            named("relaxation.solver", "euler",
                  "How the free and the nudged phases are relaxed. euler, rk4: fixed steps. second_order: fixed steps "
                  "of nodes with mass and friction. dopri5: adaptive physical time. anderson, newton_gmres: "
                  "accelerated references. coordinate: one layer of a resistive "
                  "network after the other, to where its currents vanish. direct: Newton's method on the sparse "
                  "equations of a netlist. sample: the mean of states of a heat bath (thermal networks)."),
            solvers, &PhaseOptions::phases, &EstimatorOptions::free, &SettleOptions::solver),
        field(named("relaxation.schedule", "parallel",
                    "Order of the nodes. parallel: all nodes move at once. sweep: one after the other, upwards in "
                    "the free phase and downwards in the nudged ones. A step is then a sweep, and with "
                    "relaxation.step = 1 one sweep settles a feed-forward network."),
              relaxation_schedules, &PhaseOptions::phases, &EstimatorOptions::free, &SettleOptions::schedule),
        field(integer("relaxation.free_steps", "24", between(1, 1000000), "Steps T1 of the free phase, at most."),
              &PhaseOptions::phases, &EstimatorOptions::free, &SettleOptions::max_steps),
        field(param::flag("relaxation.persistent_states", "false",
                          "Start a free phase where that of the sample's last visit ended (persistent particles), "
                          "so that fewer steps settle it while weights change little. Keeps a state of every sample "
                          "in memory and in checkpoints. For networks of samples.",
                          "Scellier and Bengio, arXiv:1602.05179, section 5.2"),
              &PhaseOptions::persistent_states),
        field(zero_is("auto", real("relaxation.step", "auto", at_least(0),
                                   "Step eps = dt/tau; auto: relaxation.step_fraction/(1 + s c).")),
              &PhaseOptions::fixed_step),
        field(
            read_with({"relaxation.step", [](const Config& c) { return phase_options(c).fixed_step == 0; }, "auto"},
                      real("relaxation.step_fraction", "0.7", above_up_to(0, 2),
                           "Fraction of eps = fraction/(1 + s c), which follows the damping c. Of second_order it is "
                           "(eps/friction) tanh(friction eps/(2 mass)). Both are stable below 2.",
                           "0.7 to 0.9 of 1/(1 + s c) settles 3 to 5 times faster than a fixed small step, measured")),
            &PhaseOptions::step_fraction),
        field(zero_is("off", real("relaxation.tolerance", "off", from_below(0, 1),
                                  "A sequence stops when |F|/|z| is at most this; off takes every step.")),
              &PhaseOptions::phases, &EstimatorOptions::free, &SettleOptions::tolerance),
        field(integer("relaxation.average_free", "1", at_least(1),
                      "The free state is the mean of its last n steps; 8 against read noise.",
                      "without it the noise floor of the residual makes the damping control diverge, measured"),
              &PhaseOptions::phases, &EstimatorOptions::free, &SettleOptions::average_last),
        field(real("relaxation.divergence_ratio", "1e4", above(1),
                   "A sequence has diverged when its state has grown by this factor over max(|z_0|, 1)."),
              &PhaseOptions::phases, &EstimatorOptions::free, &SettleOptions::divergence_ratio),
        field(real("relaxation.ode_tolerance", "1e-6", strictly_between(0, 1),
                   "Local error per step of dopri5, relative and absolute."),
              &PhaseOptions::phases, &EstimatorOptions::free, &SettleOptions::ode_relative_error),
        field(integer("relaxation.memory", "5", between(1, 100),
                      "Depth of anderson; newton_gmres uses a Krylov space of 10 times this."),
              &PhaseOptions::phases, &EstimatorOptions::free, &SettleOptions::memory),
        field(real("relaxation.mass", "1", above(0),
                   "Mass M of the nodes in tau^2, of M d2z/dt2 + friction dz/dt = F(z): a coil behind each node. "
                   "Equilibria do not depend on it."),
              &PhaseOptions::phases, &EstimatorOptions::free, &SettleOptions::motion, &Motion::mass),
        field(param::reals(
                  "relaxation.friction", "[2]", at_least(0),
                  "Friction of the nodes in tau: [2] for all, or one for each in their order. [0, 0, 2] damps the "
                  "last of three alone. 2 sqrt(mass) damps a leak of 1 critically; less settles slow modes "
                  "faster, and lets fast ones swing.",
                  "Polyak, USSR Comput. Math. Math. Phys. 4:1 (1964)"),
              &PhaseOptions::phases, &EstimatorOptions::free, &SettleOptions::motion, &Motion::friction)};
    using P = PhaseOptions;
    using O = EstimatorOptions;
    all.where(chosen("relaxation.solver", {"second_order"}),
              {{&P::phases, &O::free, &SettleOptions::motion, &Motion::mass},
               {&P::phases, &O::free, &SettleOptions::motion, &Motion::friction}});
    all.where(chosen("relaxation.solver", {"dopri5"}), {{&P::phases, &O::free, &SettleOptions::ode_relative_error}});
    all.where(chosen("relaxation.solver", {"anderson", "newton_gmres"}),
              {{&P::phases, &O::free, &SettleOptions::memory}});
    return all;
  }();
  return section;
}

namespace {

std::vector<Requirement> solver_needs(SettleSolver solver) {
  using namespace needs;
  switch (solver) {
    case SettleSolver::euler: return {no_stiffness};
    case SettleSolver::second_order: return {no_stiffness, no_amplifiers};
    case SettleSolver::rk4: return {still_input, no_box, no_stiffness, one_time, no_amplifiers};
    case SettleSolver::dopri5:
      return {still_input, no_box, no_stiffness, one_time, no_amplifiers, ideal_devices, quiet_reads};
    case SettleSolver::anderson:
    case SettleSolver::newton_gmres:
      return {still_input, no_box, no_stiffness, no_amplifiers, ideal_devices, quiet_reads};
    case SettleSolver::coordinate: return {still_input, known_loads, no_amplifiers, quiet_reads};
    case SettleSolver::direct: return {still_input, own_solution, one_noise, no_amplifiers};
    case SettleSolver::sample: return {still_input, own_bath, short_steps, no_amplifiers, quiet_nodes, ideal_devices};
  }
  return {};
}

}  // namespace

std::vector<Requirement> phase_needs(const std::string& key, const std::string& value) {
  if (key == "relaxation.solver") return solver_needs(settle_solver(value));
  if (value == "sweep") return {needs::still_input, needs::euler, needs::no_amplifiers, needs::equal_leaks};
  if (value == "oscillating") return {needs::no_sweeps, needs::euler};
  return {};
}

PhaseOptions phase_options(const Config& config) {
  PhaseOptions options = phase_section().read(config);
  estimator_section().fill(config, options.phases);
  SettleOptions& free = options.phases.free;
  const bool inertial = free.solver == SettleSolver::second_order;
  free.motion = inertial ? Motion{free.motion.mass, free.motion.friction, true} : Motion{};
  return options;
}

}  // namespace nudge
