// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "training/sweep.hpp"

namespace nudge {

/// The points of a sweep before it runs, each with its whole config.
struct SweepGrid {
  Config base;
  std::vector<Config> configs;  ///< one per point: threads = 1, the values and the seed of the point
  Sweep sweep;
};

/// Expands sweep.grid × sweep.seeds and checks every point: config rules, device, text. Throws one UserError with every
/// distinct problem, before anything runs; also when there is nothing to sweep.
SweepGrid make_sweep_grid(const ConfigSource& source);

}  // namespace nudge
