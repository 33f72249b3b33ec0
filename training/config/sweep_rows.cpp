// SPDX-License-Identifier: Apache-2.0
#include "training/config/rows.hpp"

namespace nudge {

ParamTable sweep_rows() {
  using param::choice;
  using param::distinct;
  using param::flag;
  using param::grid;
  using param::integer;
  using param::integers;
  using param::texts;
  using param::zero_is;
  return {
      choice("sweep.run", "train", {"train", "gradcheck", "stability"},
             "What each point of the sweep runs; stability: how far its equilibria are from being lost, as `nudge "
             "stability` of one chip."),
      flag("sweep.test", "false",
           "Whether every training is also tested on the test part at its end (columns test_*). Choose by the "
           "validation "
           "part: what is chosen by the test part is no longer measured by it."),
      choice(
          "sweep.mode", "grid", {"grid", "one_at_a_time", "zip", "sobol", "random"},
          "grid: every combination of values; one_at_a_time: the config as it is, and beside it every other value of "
          "every axis alone; zip: the first values of all axes together, then the second ones; sobol, random: "
          "sweep.samples places drawn from the axes, where two numbers are the ends of a range and longer lists and "
          "texts are drawn from."),
      integer("sweep.samples", "64", between(1, 1000000),
              "Places that sweep.mode = sobol or random draws; more of them keep those that are there. One that is "
              "drawn again "
              "is run once."),
      texts("sweep.logarithmic", "[]", {},
            "Axes of sobol and random whose range is drawn from evenly in its logarithm, as in "
            "`[\"train.learning_rate\"]`."),
      choice(
          "sweep.invalid", "refuse", {"refuse", "skip"},
          "Combinations that break a rule of the config: refuse the sweep before it runs, or skip them and record the "
          "rule."),
      distinct(integers("sweep.seeds", "[1]", at_least(0), "Every point is run with each of these seeds.")),
      zero_is("auto", integer("sweep.parallel", "auto", between(0, 4096),
                              "Runs at the same time, each on one thread; auto: one per thread, and one per process "
                              "under mpirun.")),
      grid("sweep.grid",
           "The axes: keys of this table and the values each takes, as in `\"device.read_noise\" = [0, \"1 %\"]`; "
           "every combination is run."),
  };
}

}  // namespace nudge
