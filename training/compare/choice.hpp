// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "training/sweep/sweep_grid.hpp"

namespace nudge {

/// The place in the grid that an entrant is reported at.
struct Choice {
  Combination combination;  ///< settings
  std::vector<std::string>
      values;  ///< of the keys of the grid, as the config prints them; empty: the entrant does not read it
  std::vector<std::string>
      edges;                   ///< numeric keys whose chosen value is the smallest or largest of several: extend them
  double validation_loss = 0;  ///< mean over the tuning seeds; NaN where nothing was tuned
};

/// The combination with the smallest mean validation loss over the tuning seeds. One in which a run failed is not chosen;
/// nothing when that leaves none. Equal losses: the first. `tuning` holds the points of an entrant in the order
/// combinations × seeds; empty where nothing is tuned, the first combination is then the choice.
std::optional<Choice> choose(const std::vector<GridAxis>& axes, const std::vector<Combination>& combinations,
                             const std::vector<SweepPoint>& tuning, const std::vector<SweepMetric>& metrics);

}  // namespace nudge
