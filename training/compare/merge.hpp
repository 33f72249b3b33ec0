// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "sim/io/h5_document.hpp"
#include "training/compare/compare.hpp"
#include "training/sweep/merge_part.hpp"

namespace nudge {

/// Whether a merged file may lack points.
enum class MissingPoints { refuse, accept };

struct MergeSummary {
  std::size_t points = 0, finished = 0;  ///< of the whole study, and those the merged file has
  std::size_t failed = 0;                ///< of these, did not end well
  std::size_t outside = 0;               ///< finished runs of earlier grids that the merged file keeps
};

/// Joins files of parts of one sweep or comparison (--shard, interrupted runs, merged files): the output has the same content as the
/// file of a study that one process ran, but for times and machine. A point that several files have is taken once; of one that
/// ended well in one of them only, that result. Finished runs outside the grid of the parts (sweep_file.hpp) are kept. Of a comparison: parts of the tuning alone give its choices and no test runs, which
/// run_compare() goes on with, in parts or whole. UserError, and no output: a file that is neither, or of another kind, config,
/// build, processor or list of points, with what differs; a point that ended well in two files with different numbers;
/// missing points, unless accepted; test runs of other choices; an output that exists.
MergeSummary merge_sweeps(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& output,
                          MissingPoints missing);

/// Writes /entrants of a comparison whose parts were joined: what run_compare() would have chosen and found. `tuning`: the rows of all
/// of it, in the order of the plan; none where the grid is one place. `test`: the rows there are. `name`: of the config in messages.
/// UserError: test runs that are not at the choices of this tuning.
void write_merged_entrants(H5Document& document, const Config& config, const std::string& name,
                           const RowColumns& tuning, const RowColumns& test);

}  // namespace nudge
