// SPDX-License-Identifier: Apache-2.0
#include "training/config/rows.hpp"

namespace nudge {

ParamTable compare_rows() {
  using param::distinct;
  using param::grid;
  using param::integers;
  using param::texts;
  return {
      texts("compare.entrants", "bptt, aep_anchored", {},
            "What `nudge compare` compares, the first with all others: an estimator, or a name with settings of its "
            "own, as "
            "in \"ecram: estimator=aep_anchored; device.preset=ecram\"."),
      distinct(integers(
          "compare.tuning_seeds", "[1, 2, 3]", at_least(0),
          "Seeds of the runs that choose each entrant's place in compare.grid, by the mean validation loss.",
          "a choice by one seed holds its luck: docs/results.md has a rate that one of five fresh seeds did not take")),
      distinct(
          integers("compare.test_seeds", "[11, 12, 13, 14, 15]", at_least(0),
                   "Fresh seeds of the runs that are reported, none of them in compare.tuning_seeds.",
                   "5 seeds: the 95 % interval of a mean is 1.24 standard deviations to either side; 3 seeds: 2.48")),
      grid("compare.grid",
           "What is tuned, the same for every entrant: keys of this table and the values each takes, as in "
           "`\"train.learning_rate\" = [1e-3, 3e-3]`; every combination is run, without the keys that the entrant does "
           "not read."),
  };
}

}  // namespace nudge
