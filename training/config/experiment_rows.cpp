// SPDX-License-Identifier: Apache-2.0
#include "training/config/rows.hpp"
#include "training/experiments/task.hpp"

namespace nudge {

ParamTable experiment_rows() {
  using param::integer;
  using param::integers;
  using param::real;
  using param::texts;
  return {
      texts("experiment.tasks", "argmax", experiment_task_names(),
            "What `nudge experiment` trains on, one after the other."),
      integers("experiment.seeds", "[1]", at_least(0), "Every model is trained with each of these seeds."),
      real("experiment.weight_decay", "0.01", at_least(0), "Decoupled weight decay of AdamW, on every parameter.",
           "default of the papers' framework; appendix P of the Free Energy Mixer"),
      integer("experiment.test_examples", "1000", between(1, 1000000), "Examples that a model is tested on."),
  };
}

}  // namespace nudge
