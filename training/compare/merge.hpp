// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "sim/io/h5_document.hpp"
#include "training/compare/compare.hpp"
#include "training/sweep/merge_part.hpp"

namespace nudge {

/// Policy for a merged file that lacks points.
enum class MissingPoints { refuse, accept };

struct MergeSummary {
  std::size_t points = 0, finished = 0;  ///< points of the whole study, and points in the merged file
  std::size_t failed = 0;                ///< points in the merged file that did not end well
  std::size_t outside = 0;               ///< finished runs of earlier grids that the merged file keeps
};

/// Joins files of parts of one sweep or comparison (--shard, interrupted runs, merged files). The output has the same
/// content as the file of a study that one process ran, except for times and machine. A point in several files is taken
/// once; if it ended well in one of them only, that result counts. Finished runs outside the grid of the parts
/// (sweep_file.hpp) are kept. Parts of a comparison's tuning alone give its choices and no test runs; run_compare()
/// goes on from there, in parts or whole. UserError, and no output, in these cases:
/// - a file is neither sweep nor comparison, or of another kind, config, build, processor or list of points (the text
///   says what differs);
/// - a point ended well in two files with different numbers;
/// - points are missing, unless accepted;
/// - test runs belong to other choices;
/// - the output exists.
MergeSummary merge_sweeps(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& output,
                          MissingPoints missing);

/// Writes /entrants of a comparison whose parts were joined: with the choices and results of run_compare(). `tuning`:
/// all its rows in the order of the plan; none where the grid is one point. `test`: the rows there are. `name`: the
/// config's name in messages. UserError: test runs that are not at the choices of this tuning.
void write_merged_entrants(H5Document& document, const Config& config, const std::string& name,
                           const RowColumns& tuning, const RowColumns& test);

}  // namespace nudge
