// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "training/sweep/merge_part.hpp"

namespace nudge {

/// Writes what the parts keep of earlier grids beside their table `t`, of each run one row: of one that ended well in one part only, that
/// result. Returns how many rows. UserError: a run that ended well in two parts with different numbers.
std::size_t write_outside_runs(H5Document& document, const std::vector<StudyPart>& parts, std::size_t t);

}  // namespace nudge
