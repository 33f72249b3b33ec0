// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/config.hpp"

namespace nudge {

/// UserError with a line for every axis of sweep.grid and compare.grid that lists a value twice, in whatever spelling: both make the same
/// runs. sweep.mode = zip takes the axes in step: there a place, of one value of each, may not stand twice.
void expect_no_grid_repeats(const Config& config);

}  // namespace nudge
