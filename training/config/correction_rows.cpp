// SPDX-License-Identifier: Apache-2.0
#include "training/config/choice_lists.hpp"
#include "training/config/rows.hpp"

namespace nudge {

ParamTable correction_rows() {
  using param::choice;
  using param::integer;
  using param::real;
  using param::zero_is;
  return {
      choice("correction.scope", "attention", correction_scopes.names(),
             "What the correction of the nudged phase covers; full: also a memory on two arrays (model.memory_arrays = "
             "2), "
             "which is not reciprocal."),
      real("correction.gain_error", "0", {-1, 10, true, false},
           "Relative gain error of the circuits that carry J v and J' v, common to all nodes."),
      real("correction.gain_spread", "0", between(0, 10), "Standard deviation of the static gain error of each node."),
      real("correction.offset", "0", at_least(0),
           "Standard deviation of the static offset of each node's correction, in units of the force."),
      real("correction.noise", "0", at_least(0),
           "Fresh noise of the correction per sqrt(tau), relative to the rms of what the path carries in one read."),
      real("correction.delay", "0", at_least(0), "Delay of the correction in units of tau; rounded to whole steps."),
      zero_is("ideal", integer("correction.converter_bits", "ideal", zero_or_between(2, 24),
                               "Resolution of a converter in the correction path.")),
      zero_is("auto", real("correction.converter_range", "auto", at_least(0),
                           "Full scale of that converter; auto: ranged by each read.")),
  };
}

}  // namespace nudge
