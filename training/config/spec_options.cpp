// SPDX-License-Identifier: Apache-2.0
#include "training/config/spec_options.hpp"

namespace nudge {

const Section<SpecOptions>& spec_section() {
  using param::choice, param::distinct, param::grid, param::integer, param::integers, param::real, param::texts;
  static const Section<SpecOptions> section = {
      field(
          texts("spec.keys", "[]", {},
                "Keys whose requirement `nudge spec` finds, as in `[\"device.read_noise\"]`; empty: those of its list "
                "that apply to the config."),
          &SpecOptions::keys),
      field(grid("spec.range",
                 "Range of a key in `nudge spec`, from its best value to its worst, as in `\"device.read_noise\" = [0, "
                 "\"20 %\"]`. A key with a range is on the list."),
            &SpecOptions::range),
      field(real("spec.loss", "0.01", between(1e-6, 0.9),
                 "Loss at which a requirement stands, as a share of what digital weights learn beyond the strongest "
                 "baseline.",
                 "chosen: 1 %"),
            &SpecOptions::loss),
      field(choice(
                "spec.metric", "score", {"score", "loss"},
                "What the loss is of. score: the test score of the task, such as the accuracy; the test loss where the "
                "task has none. loss: the test loss, which resolves more than an accuracy of few samples."),
            &SpecOptions::metric),
      field(distinct(integers("spec.seeds", "[1, 2, 3, 4, 5]", at_least(0),
                              "Every training of `nudge spec` is run with each of these seeds; results of the same "
                              "seed are paired.")),
            &SpecOptions::seeds),
      field(integer("spec.bisections", "4", between(1, 20),
                    "Bisections of each range: the bracket of a requirement is 1/2^n of its range."),
            &SpecOptions::bisections),
      field(integer("spec.designs", "24", between(0, 100000),
                    "Designs drawn between the requirements and the config for the Pareto front; 0: none."),
            &SpecOptions::designs),
      field(integer("spec.runs", "2000", at_least(1),
                    "Most trainings of `nudge spec`. A plan that may need more is refused before the first one."),
            &SpecOptions::runs)};
  return section;
}

}  // namespace nudge
