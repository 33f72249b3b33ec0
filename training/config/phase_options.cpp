// SPDX-License-Identifier: Apache-2.0
#include "training/config/phase_options.hpp"

#include "sim/settle.hpp"
#include "sim/steady/solvers.hpp"

namespace nudge {
namespace {

const Choices<NudgeSides> nudge_sides{
    {"centered", NudgeSides::centered}, {"positive", NudgeSides::positive}, {"negative", NudgeSides::negative}};
const Choices<NudgeForm> nudge_forms{{"static", NudgeForm::constant}, {"oscillating", NudgeForm::oscillating}};
const Choices<NudgedDrive> nudged_drives{{"state", NudgedDrive::state}, {"difference", NudgedDrive::difference}};
const Choices<bool> frozen_currents{{"live", false}, {"frozen", true}};
const Choices<RelaxationSchedule> relaxation_schedules{{"parallel", RelaxationSchedule::parallel},
                                                       {"sweep", RelaxationSchedule::sweep}};

std::pair<const char*, SettleSolver> named_by_itself(SettleSolver solver) { return {to_string(solver), solver}; }

const Choices<SettleSolver> solvers{
    named_by_itself(SettleSolver::euler),        named_by_itself(SettleSolver::rk4),
    named_by_itself(SettleSolver::dopri5),       named_by_itself(SettleSolver::anderson),
    named_by_itself(SettleSolver::newton_gmres), named_by_itself(SettleSolver::coordinate),
    named_by_itself(SettleSolver::direct),       named_by_itself(SettleSolver::sample)};

}  // namespace

const Section<PhaseOptions>& phase_section() {
  using param::choice;
  using param::integer;
  using param::named;
  using param::real;
  using param::zero_is;
  static const Section<PhaseOptions> section = {
      field(named("relaxation.solver", "euler",
                  "How the free and the nudged phases are relaxed: fixed steps, adaptive physical time, an accelerated "
                  "reference, (resistive "
                  "networks) "
                  "one layer after the other to where its currents vanish, (netlists) Newton's method on the circuit's "
                  "sparse equations: direct, or (thermal networks) states of the bath, whose mean is taken: sample."),
            solvers, &PhaseOptions::phases, &EstimatorOptions::free, &SettleOptions::solver),
      field(named("relaxation.schedule", "parallel",
                  "parallel: all nodes move at once; sweep: one after the other in the order in which they drive each "
                  "other, "
                  "up in the free phase and down in the nudged ones; a step is then a sweep, and one settles a "
                  "feed-forward "
                  "network with relaxation.step = 1."),
            relaxation_schedules, &PhaseOptions::phases, &EstimatorOptions::free, &SettleOptions::schedule),
      field(integer("relaxation.free_steps", "24", between(1, 1000000), "Steps T1 of the free phase, at most."),
            &PhaseOptions::phases, &EstimatorOptions::free, &SettleOptions::max_steps),
      field(integer("relaxation.nudged_steps", "24", between(1, 1000000),
                    "Steps T2 of a nudged phase, at most: ln(tol)/ln(rho) for a measured decay rho."),
            &PhaseOptions::phases, &EstimatorOptions::nudged_steps),
      field(zero_is("auto", real("relaxation.step", "auto", at_least(0),
                                 "Step eps = dt/tau; auto: relaxation.step_fraction/(1 + s c).")),
            &PhaseOptions::fixed_step),
      field(real("relaxation.step_fraction", "0.7", above_up_to(0, 2),
                 "Fraction of eps = fraction/(1 + s c), which follows the damping c.",
                 "0.7 to 0.9 of 1/(1 + s c) settles 3 to 5 times faster than a fixed small step, measured"),
            &PhaseOptions::step_fraction),
      field(zero_is("off", real("relaxation.tolerance", "off", from_below(0, 1),
                                "A sequence stops when |F|/|z| is at most this; off takes every step.")),
            &PhaseOptions::phases, &EstimatorOptions::free, &SettleOptions::tolerance),
      field(integer("relaxation.average_free", "1", at_least(1),
                    "The free state is the mean of its last n steps; 8 against read noise.",
                    "without it the residual has a noise floor that the damping control runs away from, measured"),
            &PhaseOptions::phases, &EstimatorOptions::free, &SettleOptions::average_last),
      field(integer("relaxation.average_nudged", "1", at_least(1),
                    "A nudged state is the mean of its last n steps; 12 against read noise.",
                    "the error falls 3.3 times, measured"),
            &PhaseOptions::phases, &EstimatorOptions::average_nudged),
      field(real("relaxation.divergence_ratio", "1e4", above(1),
                 "A sequence has diverged when its state has grown by this factor over max(|z_0|, 1)."),
            &PhaseOptions::phases, &EstimatorOptions::free, &SettleOptions::divergence_ratio),
      field(real("relaxation.ode_tolerance", "1e-6", strictly_between(0, 1),
                 "Local error per step of dopri5, relative and absolute."),
            &PhaseOptions::phases, &EstimatorOptions::free, &SettleOptions::ode_relative_error),
      field(integer("relaxation.memory", "5", between(1, 100),
                    "Depth of anderson; newton_gmres uses a Krylov space of 10 times this."),
            &PhaseOptions::phases, &EstimatorOptions::free, &SettleOptions::memory),
      field(real("relaxation.adjoint_tolerance", "1e-10", strictly_between(0, 1),
                 "Estimator implicit in training: relative residual of its adjoint solve J' a = -dC/dz by GMRES. Not "
                 "below "
                 "100 "
                 "roundings of the precision (1.2e-5 in single), which is what one J' a is good for."),
            &PhaseOptions::phases, &EstimatorOptions::adjoint_tolerance),
      field(named("nudge.sides", "centered",
                  "centered: states at +beta and -beta, error of order beta^2; one-sided: order beta."),
            nudge_sides, &PhaseOptions::phases, &EstimatorOptions::sides),
      field(integer("nudge.points", "4", between(2, 64), "Number N of nudges of aep_npoint, even."),
            &PhaseOptions::phases, &EstimatorOptions::points),
      field(real("nudge.input_frequency", "0", at_least(0),
                 "Estimator frequency: angular frequency, in 1/tau, at which all sources of a linear circuit swing; 0: "
                 "inputs are at rest, and their amplitudes those of the operating point."),
            &PhaseOptions::phases, &EstimatorOptions::input_frequency),
      field(
          real("nudge.error_frequency", "0.01", at_least(0),
               "Estimator frequency: angular frequency of the error, in 1/tau. A mode that decays with rate r answers "
               "in phase by 1/(1 + (omega/r)^2) of what it would at rest.",
               "Anisetti et al., arXiv:2208.08862"),
          &PhaseOptions::phases, &EstimatorOptions::error_frequency),
      field(named("nudge.form", "static",
                  "static: nudged states at +beta and -beta (nudge.sides); oscillating: one phase nudged by beta sin "
                  "omega t, whose states are read by a lock-in at every node. Estimators ep, ep_anchored, aep, "
                  "aep_anchored and aep_transposed; frequency at its own two frequencies, with noise.",
                  "arXiv:2209.00530, section 3.3"),
            nudge_forms, &PhaseOptions::phases, &EstimatorOptions::oscillation, &Oscillation::form),
      field(real("nudge.frequency", "0.1", above(0),
                 "Oscillating: angular frequency omega of the nudge, in 1/tau; the nearest one whose period is a whole "
                 "number of steps is taken. A mode that decays with rate r answers in phase by 1/(1 + (omega/r)^2) of "
                 "what it would at rest."),
            &PhaseOptions::phases, &EstimatorOptions::oscillation, &Oscillation::frequency),
      field(integer("nudge.periods", "4", between(1, 1000000),
                    "Oscillating: periods that the lock-in listens to; white noise falls with their root."),
            &PhaseOptions::phases, &EstimatorOptions::oscillation, &Oscillation::periods),
      field(integer("nudge.settling_periods", "1", between(0, 1000000),
                    "Oscillating: periods before that, in which the transient of switching on dies out."),
            &PhaseOptions::phases, &EstimatorOptions::oscillation, &Oscillation::settling),
      field(integer("nudge.harmonic", "1", between(1, 63),
                    "Oscillating: highest harmonic that is read, odd. What a finite beta leaves is of order "
                    "beta^(harmonic + 1); noise grows with the harmonics."),
            &PhaseOptions::phases, &EstimatorOptions::oscillation, &Oscillation::harmonic),
      field(zero_is("off", real("nudge.time_constant", "off", at_least(0),
                                "Oscillating: time constant of a low-pass behind the lock-in's product, in tau; off: "
                                "the mean over whole periods, which leaves no ripple.")),
            &PhaseOptions::phases, &EstimatorOptions::oscillation, &Oscillation::time_constant),
      field(real("nudge.phase_error", "0", between(-3.2, 3.2),
                 "Oscillating: phase by which the lock-in's reference runs ahead of the nudge, in radians."),
            &PhaseOptions::phases, &EstimatorOptions::oscillation, &Oscillation::phase_error),
      field(zero_is("off", real("nudge.clip", "off", at_least(0),
                                "Clip each element of the correction to this. A clip that binds ruins the "
                                "gradient: for comparison "
                                "with the founding note only.",
                                "measured")),
            &PhaseOptions::phases, &EstimatorOptions::clip),
      field(named("nudge.drive", "state",
                  "What drives the arrays of the memory in the nudged phase of aep_transposed: the state, or its "
                  "difference to "
                  "the free equilibrium on top of stored products, so that converters range over the difference."),
            nudged_drives, &PhaseOptions::drive),
      field(
          named(
              "nudge.cost_current", "live",
              "The cost's current in the nudged phases of ep* and aep* (but aep_tracked): live, of the state as it "
              "moves; "
              "frozen, of the free equilibrium, so that the transposed phase is linear in beta and any beta is small."),
          frozen_currents, &PhaseOptions::phases, &EstimatorOptions::frozen_cost),
      field(param::flag(
                "nudge.below_rounding", "false",
                "Run a beta whose gradient is rounding alone, which is refused otherwise: below 3e-7 in float, 5.6e-16 "
                "in double.",
                "2.5 roundings over beta; docs/estimators.md"),
            &PhaseOptions::below_rounding),
      field(param::flag("nudge.below_noise", "false",
                        "Train with a nudge that moves the nodes by less than a tenth of their noise, which is refused "
                        "otherwise."),
            &PhaseOptions::below_noise)};
  return section;
}

}  // namespace nudge
