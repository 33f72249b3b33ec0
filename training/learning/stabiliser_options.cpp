// SPDX-License-Identifier: Apache-2.0
#include "training/learning/stabiliser_options.hpp"

namespace nudge {

const Section<StabiliserOptions>& stabiliser_section() {
  using param::flag;
  using param::integer;
  using param::real;
  using param::zero_is;
  static const std::string recipe = "recipe of the prototype, tuned by hand on one seed";
  static const Section<StabiliserOptions> section = [] {
    Section<StabiliserOptions> all = {
        field(flag("damping.control", "true", "Regulate the damping c by the residual of the free phase."),
              &StabiliserOptions::control),
        field(real("damping.high", "1.5e-2", above(0),
                   "Raise c when eps |F|/|z| after the free phase is above this; keep it 2 to 3 times over the noise "
                   "floor.",
                   recipe),
              &StabiliserOptions::damping, &DampingOptions::high),
        field(real("damping.low", "5e-3", at_least(0), "Lower c when eps |F|/|z| is below this.", recipe),
              &StabiliserOptions::damping, &DampingOptions::low),
        field(real("damping.raise", "1.02", at_least(1), "Factor on c when raised.", recipe),
              &StabiliserOptions::damping, &DampingOptions::raise),
        field(real("damping.lower", "0.995", above_up_to(0, 1), "Factor on c when lowered.", recipe),
              &StabiliserOptions::damping, &DampingOptions::lower),
        field(real("damping.minimum", "0.05", at_least(0), "Floor of c.", recipe), &StabiliserOptions::damping,
              &DampingOptions::minimum),
        field(real("damping.maximum", "100", above(0), "Ceiling of c.",
                   "a run-away control reached 1000 with no signal left, measured"),
              &StabiliserOptions::damping, &DampingOptions::maximum),
        field(integer("damping.patience", "1", between(1, 1000000),
                      "Steps in a row above damping.high before c is raised."),
              &StabiliserOptions::damping, &DampingOptions::patience),
        field(flag("damping.raise_on_skip", "true", "A skipped step counts as one above damping.high."),
              &StabiliserOptions::damping, &DampingOptions::raise_on_skip),
        field(
            zero_is("off",
                    real("memory_bound.fraction", "0.5", from_below(0, 1),
                         "After each step W_m is scaled so that 2 |W_m|_2^2 <= fraction (1 + s c): above 1 the energy "
                         "is unbounded "
                         "below.",
                         recipe)),
            &StabiliserOptions::memory, &MemoryBoundOptions::fraction),
        field(integer("memory_bound.iterations", "2", between(1, 1000),
                      "Power iterations for the spectral norm, warm started."),
              &StabiliserOptions::memory, &MemoryBoundOptions::iterations)};
    all.where(switched_on("damping.control"), {&StabiliserOptions::damping});
    all.where(above_zero("memory_bound.fraction"), {{&StabiliserOptions::memory, &MemoryBoundOptions::iterations}});
    return all;
  }();
  return section;
}

}  // namespace nudge
