// SPDX-License-Identifier: Apache-2.0
#include "training/config/rows.hpp"

namespace nudge {

ParamTable sweep_rows() {
  using param::choice;
  using param::grid;
  using param::integer;
  using param::integers;
  return {
      choice("sweep.run", "train", {"train", "gradcheck"}, "What each point of the sweep runs."),
      choice(
          "sweep.mode", "grid", {"grid", "one_at_a_time"},
          "grid: every combination of values; one_at_a_time: the config as it is, and beside it every other value of "
          "every axis alone."),
      integers("sweep.seeds", "[1]", at_least(0), "Every point is run with each of these seeds."),
      integer("sweep.parallel", "0", between(0, 4096), "Runs at the same time, each on one thread; 0: one per thread."),
      grid("sweep.grid",
           "The axes: keys of this table and the values each takes, as in `\"device.read_noise\" = [0, \"1 %\"]`; "
           "every combination is run."),
  };
}

}  // namespace nudge
