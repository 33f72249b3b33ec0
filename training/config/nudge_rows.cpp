// SPDX-License-Identifier: Apache-2.0
#include "training/config/choice_lists.hpp"
#include "training/config/rows.hpp"
#include "training/learning/estimators/estimator.hpp"

namespace nudge {

ParamTable nudge_rows() {
  using param::choice;
  using param::distinct;
  using param::integer;
  using param::real;
  using param::texts;
  using param::zero_is;
  std::vector<std::string> comparable = estimator_names();
  comparable.emplace_back("all");
  return {
      choice("nudge.sides", "centered", nudge_sides.names(),
             "centered: states at +beta and -beta, error of order beta^2; one-sided: order beta."),
      integer("nudge.points", "4", between(2, 64), "Number N of nudges of aep_npoint, even."),
      zero_is("off", real("nudge.clip", "off", at_least(0),
                          "Clip each element of the correction to this. A clip that binds ruins the "
                          "gradient: for comparison "
                          "with the founding note only.",
                          "measured")),
      choice(
          "nudge.drive", "state", nudged_drives.names(),
          "What drives the arrays of the memory in the nudged phase of aep_transposed: the state, or its difference to "
          "the free equilibrium on top of stored products, so that converters range over the difference."),
      choice(
          "nudge.cost_current", "live", frozen_currents.names(),
          "The cost's current in the nudged phases of ep* and aep* (but aep_tracked): live, of the state as it moves; "
          "frozen, of the free equilibrium, so that the transposed phase is linear in beta and any beta is small."),
      param::flag(
          "nudge.below_rounding", "false",
          "Run a beta whose gradient is rounding alone, which is refused otherwise: below 3e-7 in float, 5.6e-16 "
          "in double.",
          "2.5 roundings over beta; docs/estimators.md"),
      distinct(
          texts("gradcheck.estimators", "ep, aep, aep_anchored, aep_transposed, linear_adjoint", comparable,
                "Estimators that `nudge gradcheck` compares with the exact adjoint; bptt is always one of them where "
                "relaxation.solver = euler; all: every one.")),
      integer("gradcheck.batches", "1", between(1, 10000), "Batches that the comparison averages over."),
      integer("gradcheck.finite_difference_entries", "8", between(0, 1000000),
              "Parameters per group checked by central differences of the settled cost; 0: none."),
      real("gradcheck.settle_tolerance", "1e-12", strictly_between(0, 1),
           "|F|/|z| of the fixed point at which the exact adjoint is solved (double precision)."),
      real("gradcheck.adjoint_tolerance", "1e-12", strictly_between(0, 1),
           "Relative residual of the adjoint solve J' a = -dC/dz, also of the estimator implicit."),
      integer("gradcheck.adjoint_iterations", "400", between(1, 1000000), "GMRES iterations of that solve, at most."),
      integer("gradcheck.train_steps", "0", at_least(0),
              "Train this many steps first: the gradient near the stability margin is harder than at a random start."),
      choice(
          "gradcheck.weights", "configured", {"configured", "programmed"},
          "configured: the training steps run on the configured devices; programmed: on exact numbers, which are then "
          "programmed into the devices (with crossbar.scale = renew the window is fitted to them); the points of a "
          "sweep "
          "that differ in devices and circuits alone program the same trained network."),
      param::quantity("gradcheck.age", "0 s", Unit::second, at_least(0),
                      "Time between programming and the comparison, for drift, leak, telegraph and 1/f noise."),
      choice(
          "gradcheck.reference", "circuit", {"circuit", "device", "nominal"},
          "Whose exact gradient is the truth: that of the circuit which is simulated, without fresh noise and "
          "rounding; "
          "of the weights which its devices hold, in ideal circuits; or of the numbers they were meant to hold, which "
          "needs gradcheck.weights = programmed."),
  };
}

}  // namespace nudge
