// SPDX-License-Identifier: Apache-2.0
#include "training/config/rows.hpp"

namespace nudge {

ParamTable stabiliser_rows() {
  using param::flag;
  using param::integer;
  using param::real;
  using param::zero_is;
  const std::string recipe = "recipe of the prototype, tuned by hand on one seed";
  return {
      flag("damping.control", "true", "Regulate the damping c by the residual of the free phase."),
      real("damping.high", "1.5e-2", above(0),
           "Raise c when eps |F|/|z| after the free phase is above this; keep it 2 to 3 times over the noise floor.",
           recipe),
      real("damping.low", "5e-3", at_least(0), "Lower c when eps |F|/|z| is below this.", recipe),
      real("damping.raise", "1.02", at_least(1), "Factor on c when raised.", recipe),
      real("damping.lower", "0.995", above_up_to(0, 1), "Factor on c when lowered.", recipe),
      real("damping.minimum", "0.05", at_least(0), "Floor of c.", recipe),
      real("damping.maximum", "100", above(0), "Ceiling of c.",
           "a run-away control reached 1000 with no signal left, measured"),
      integer("damping.patience", "1", between(1, 1000000), "Steps in a row above damping.high before c is raised."),
      flag("damping.raise_on_skip", "true", "A skipped step counts as one above damping.high."),
      zero_is("off", real("memory_bound.fraction", "0.5", from_below(0, 1),
                          "After each step W_m is scaled so that 2 |W_m|_2^2 <= fraction (1 + s c): above 1 the energy "
                          "is unbounded "
                          "below.",
                          recipe)),
      integer("memory_bound.iterations", "2", between(1, 1000),
              "Power iterations for the spectral norm, warm started."),
      zero_is("off", real("growth.strength", "0.3", at_least(0),
                          "Weight lambda of the penalty on a residual that decays too slowly: mean relu(g - rho0), g "
                          "its growth per "
                          "step.",
                          "0.1 to 1 all work, measured")),
      real("growth.threshold", "0.85", strictly_between(0, 2), "rho0: growth per step that is still free.",
           "0.85^24 = 2 %: the slow mode is forgotten within the free phase"),
      real("growth.probe", "1e-2", strictly_between(0, 1),
           "Relative size eta of the probe z* +/- eta |z*| v; .1 to .3 with noisy reads.", recipe),
      integer("growth.iterations", "0", between(0, 100),
              "Power iterations on the probe direction v before it is used; 0 takes the residual itself."),
      flag(
          "growth.samples", "false",
          "Also where rows are independent samples (network.kind = hopfield, convolutional): each has its own residual "
          "direction and its own g, per parallel step of the relaxation."),
  };
}

}  // namespace nudge
