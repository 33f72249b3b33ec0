// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/io/h5_document.hpp"
#include "training/compare/compare.hpp"
#include "training/sweep/merge_rows.hpp"

namespace nudge {

/// Writes /entrants of a comparison whose parts were joined: what run_compare() would have chosen and found. `tuning`: the rows of all
/// of it, in the order of the plan; none where the grid is one place. `test`: the rows there are. `name`: of the config in messages.
/// UserError: test runs that are not at the choices of this tuning.
void write_merged_entrants(H5Document& document, const Config& config, const std::string& name,
                           const RowColumns& tuning, const RowColumns& test);

}  // namespace nudge
