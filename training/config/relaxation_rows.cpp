// SPDX-License-Identifier: Apache-2.0
#include "sim/steady/solvers.hpp"
#include "training/config/choice_lists.hpp"
#include "training/config/rows.hpp"

namespace nudge {

ParamTable relaxation_rows() {
  using param::choice;
  using param::integer;
  using param::real;
  using param::zero_is;
  std::vector<std::string> solvers = settle_solvers();
  solvers.emplace_back(coordinate_solver);
  return {
      choice("relaxation.solver", "euler", solvers,
             "How a phase is relaxed: fixed steps, adaptive physical time, an accelerated reference, or (resistive "
             "networks) "
             "one layer after the other to where its currents vanish."),
      choice(
          "relaxation.schedule", "parallel", relaxation_schedules.names(),
          "parallel: all nodes move at once; sweep: one after the other in the order in which they drive each other, "
          "up in the free phase and down in the nudged ones; a step is then a sweep, and one settles a feed-forward "
          "network with relaxation.step = 1."),
      integer("relaxation.free_steps", "24", between(1, 1000000), "Steps T1 of the free phase, at most."),
      integer("relaxation.nudged_steps", "24", between(1, 1000000),
              "Steps T2 of a nudged phase, at most: ln(tol)/ln(rho) for a measured decay rho."),
      zero_is("auto", real("relaxation.step", "auto", at_least(0),
                           "Step eps = dt/tau; auto: relaxation.step_fraction/(1 + s c).")),
      real("relaxation.step_fraction", "0.7", above_up_to(0, 2),
           "Fraction of eps = fraction/(1 + s c), which follows the damping c.",
           "0.7 to 0.9 of 1/(1 + s c) settles 3 to 5 times faster than a fixed small step, measured"),
      zero_is("off", real("relaxation.tolerance", "off", from_below(0, 1),
                          "A sequence stops when |F|/|z| is at most this; off takes every step.")),
      integer("relaxation.average_free", "1", at_least(1),
              "The free state is the mean of its last n steps; 8 against read noise.",
              "without it the residual has a noise floor that the damping control runs away from, measured"),
      integer("relaxation.average_nudged", "1", at_least(1),
              "A nudged state is the mean of its last n steps; 12 against read noise.",
              "the error falls 3.3 times, measured"),
      real("relaxation.divergence_ratio", "1e4", above(1),
           "A sequence has diverged when its state has grown by this factor over max(|z_0|, 1)."),
      real("relaxation.ode_tolerance", "1e-6", strictly_between(0, 1),
           "Local error per step of dopri5, relative and absolute."),
      integer("relaxation.memory", "5", between(1, 100),
              "Depth of anderson; newton_gmres uses a Krylov space of 10 times this."),
      real("relaxation.adjoint_tolerance", "1e-10", strictly_between(0, 1),
           "Estimator implicit in training: relative residual of its adjoint solve J' a = -dC/dz by GMRES. Not below "
           "100 "
           "roundings of the precision (1.2e-5 in single), which is what one J' a is good for."),
  };
}

}  // namespace nudge
