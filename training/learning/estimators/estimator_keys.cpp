// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/estimator_keys.hpp"

namespace nudge {
namespace {

const Choices<NudgeSides> nudge_sides{{"centered", NudgeSides::centered},
                                      {"positive", NudgeSides::positive},
                                      {"negative", NudgeSides::negative},
                                      {"random", NudgeSides::random}};
const Choices<NudgeForm> nudge_forms{{"static", NudgeForm::constant}, {"oscillating", NudgeForm::oscillating}};
const Choices<NudgedDrive> nudged_drives{{"state", NudgedDrive::state}, {"difference", NudgedDrive::difference}};
const Choices<bool> frozen_currents{{"live", false}, {"frozen", true}};

}  // namespace

const Section<EstimatorOptions>& estimator_section() {
  using param::choice;
  using param::integer;
  using param::named;
  using param::real;
  using param::zero_is;
  static const Section<EstimatorOptions> section = [] {
    Section<EstimatorOptions> all = {
        field(
            zero_is(
                "auto",
                real("beta", "auto", at_least(0),
                     "Nudge strength per token; without the 1/(B T) of the mean cost, so that it means the same at "
                     "any batch size. auto: 1e-4 in float (1e-2 for aep_transposed, aep_npoint and ep_contrastive) "
                     "and 1e-5 in double (1e-4 for ep_contrastive).",
                     "rounding error of the gradient is (1..5)e-7/beta in float; larger beta leaves the basin near the "
                     "stability "
                     "margin; measured")),
            &EstimatorOptions::beta),
        field(integer("relaxation.nudged_steps", "24", between(1, 1000000),
                      "Steps T2 of a nudged phase, at most: ln(tol)/ln(rho) for a measured decay rho."),
              &EstimatorOptions::nudged_steps),
        field(integer("relaxation.average_nudged", "1", at_least(1),
                      "A nudged state is the mean of its last n steps; 12 against read noise.",
                      "the error falls 3.3 times, measured"),
              &EstimatorOptions::average_nudged),
        field(real("relaxation.adjoint_tolerance", "1e-10", strictly_between(0, 1),
                   "Estimator implicit in training: relative residual of its adjoint solve J' a = -dC/dz by GMRES. "
                   "At least 100 roundings of the precision (1.2e-5 in float), the accuracy of one product J' a."),
              &EstimatorOptions::adjoint_tolerance),
        field(named("nudge.sides", "centered",
                    "Nudged states. centered: at +beta and -beta, error of order beta^2. positive, negative: one of "
                    "them, error of order beta. random: one of them, drawn for every batch, so that the errors cancel "
                    "in the mean over batches.",
                    "random: Scellier and Bengio, arXiv:1602.05179; Laborieux et al., arXiv:2006.03824"),
              nudge_sides, &EstimatorOptions::sides),
        field(real("nudge.running_mean", "0", from_below(0, 1),
                   "Decay m of the running mean of gradients from which a training learns. It averages read noise over "
                   "about 1/(1 - m) batches, with one number per parameter. 0: none.",
                   "bias-corrected as in Kingma and Ba, arXiv:1412.6980"),
              &EstimatorOptions::running_mean),
        field(
            real(
                "nudge.clock_error", "0", between(-0.5, 0.5),
                "Estimator echo: relative error of the duration of a step on the way back. 1e-4 is a clock that is 100 "
                "ppm slow."),
            &EstimatorOptions::clock_error),
        field(integer("nudge.points", "4", between(2, 64), "Number N of nudges of aep_npoint, even."),
              &EstimatorOptions::points),
        field(real("nudge.input_frequency", "0", at_least(0),
                   "Estimator frequency: angular frequency, in 1/tau, at which all sources of a linear circuit "
                   "oscillate. 0: inputs are constant, with the amplitudes of the operating point."),
              &EstimatorOptions::input_frequency),
        field(
            real(
                "nudge.error_frequency", "0.01", at_least(0),
                "Estimator frequency: angular frequency of the error, in 1/tau. A mode that decays with rate r answers "
                "in phase by 1/(1 + (omega/r)^2) of what it would at rest.",
                "Anisetti et al., arXiv:2208.08862"),
            &EstimatorOptions::error_frequency),
        field(named("nudge.form", "static",
                    "Form of the nudge. static: nudged states at +beta and -beta (nudge.sides). oscillating: one "
                    "phase nudged by beta sin omega t, read by a lock-in at every node, for ep, ep_anchored, aep, "
                    "aep_anchored and aep_transposed. The estimator frequency then uses its own two frequencies, "
                    "with noise.",
                    "arXiv:2209.00530, section 3.3"),
              nudge_forms, &EstimatorOptions::oscillation, &Oscillation::form),
        field(real("nudge.frequency", "0.1", above(0),
                   "Oscillating: angular frequency omega of the nudge, in 1/tau, rounded so that its period is a "
                   "whole number of steps. A mode that decays with rate r answers in phase by 1/(1 + (omega/r)^2) of "
                   "what it would at rest."),
              &EstimatorOptions::oscillation, &Oscillation::frequency),
        field(integer("nudge.periods", "4", between(1, 1000000),
                      "Oscillating: periods over which the lock-in averages; white noise falls with their square "
                      "root."),
              &EstimatorOptions::oscillation, &Oscillation::periods),
        field(integer("nudge.settling_periods", "1", between(0, 1000000),
                      "Oscillating: periods before the lock-in starts, in which the transient of switching on "
                      "decays."),
              &EstimatorOptions::oscillation, &Oscillation::settling),
        field(integer("nudge.harmonic", "1", between(1, 63),
                      "Oscillating: highest harmonic that is read, odd. The error of a finite beta is of order "
                      "beta^(harmonic + 1); noise grows with the harmonics."),
              &EstimatorOptions::oscillation, &Oscillation::harmonic),
        field(zero_is("off", real("nudge.time_constant", "off", at_least(0),
                                  "Oscillating: time constant of a low-pass after the lock-in's product, in tau; "
                                  "off: the mean over whole periods, without ripple.")),
              &EstimatorOptions::oscillation, &Oscillation::time_constant),
        field(real("nudge.phase_error", "0", between(-3.2, 3.2),
                   "Oscillating: phase by which the lock-in's reference leads the nudge, in radians."),
              &EstimatorOptions::oscillation, &Oscillation::phase_error),
        field(zero_is("off", real("nudge.clip", "off", at_least(0),
                                  "Clip each element of the correction to this. A clip that binds ruins the "
                                  "gradient: for comparison "
                                  "with the founding note only.",
                                  "measured")),
              &EstimatorOptions::clip),
        field(named("nudge.drive", "state",
                    "Drive of the memory arrays in the nudged phase of aep_transposed. state: the state. "
                    "difference: its difference to the free equilibrium, added to stored products, so that "
                    "converters only cover the difference."),
              nudged_drives, &EstimatorOptions::drive),
        field(named("nudge.cost_current", "live",
                    "Error current (gradient of the cost) in the nudged phases of ep* and aep* except aep_tracked. "
                    "live: of the moving state. frozen: of the free equilibrium, so that the transposed phase is "
                    "linear in beta for any beta."),
              frozen_currents, &EstimatorOptions::frozen_cost),
        field(param::flag("nudge.below_rounding", "false",
                          "Allow a beta whose gradient is only rounding: below 3e-7 in float, 5.6e-16 in double.",
                          "2.5 roundings over beta; docs/reference/estimators.md"),
              &EstimatorOptions::below_rounding),
        field(param::flag("nudge.below_noise", "false",
                          "Allow a nudge that moves the nodes by less than a tenth of their noise, or whose first "
                          "gradient has a cosine below 0.1 with the exact one."),
              &EstimatorOptions::below_noise)};
    using O = EstimatorOptions;
    using Swing = Oscillation;
    all.where(chosen("nudge.form", {"oscillating"}), {{&O::oscillation, &Swing::frequency},
                                                      {&O::oscillation, &Swing::periods},
                                                      {&O::oscillation, &Swing::settling},
                                                      {&O::oscillation, &Swing::harmonic},
                                                      {&O::oscillation, &Swing::time_constant},
                                                      {&O::oscillation, &Swing::phase_error}});
    all.where(chosen("nudge.form", {"static"}), {&O::sides});
    return all;
  }();
  return section;
}

}  // namespace nudge
