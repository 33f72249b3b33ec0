// SPDX-License-Identifier: Apache-2.0
#include "training/config/config_table.hpp"

namespace nudge {

const std::vector<Preset>& program_presets() {
  static const std::vector<Preset> presets = {
      {"founding_note", "the founding note's algorithm: correction at z* without anchor, only the damping regulated",
       "estimator = 'aep'\n"
       "[memory_bound]\nfraction = 0\n"
       "[growth]\nstrength = 0\n"
       "[train]\nskip_ratio = 0\n"},
      // In the prototype this trained through reads with noise of 1 % of the rms of each product within +0.1, +2.7 and
      // -0.3 % of the noise-free loss on three seeds; the un-transposed forms did not train.
      {"noisy_reads", "what trains through read noise: transposed attention, averaged states, a large nudge",
       "estimator = 'aep_transposed'\nbeta = 0.1\n"
       "[relaxation]\naverage_free = 8\naverage_nudged = 12\n"
       "[reads]\nanchor = 'mean 8'\n"
       "[growth]\nprobe = 0.1\n"},
  };
  return presets;
}

}  // namespace nudge
