// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"
#include "sim/io/run_record.hpp"
#include "training/sweep/sweep.hpp"
#include "training/sweep/sweep_grid.hpp"

namespace nudge {

/// A table of runs in the file of a study, `group` of it being "points" of a sweep, "tuning" or "test" of a comparison:
///   <group>, <group>_cosine  a row per finished run, in the order of the grid, and the cosines of its parameter groups;
///   plan_group()             every run, finished or not;
///   outside_group()          the same columns, and seconds, of finished runs that are none of the present grid's.
/// Readers of the first two see the present grid alone, so that nothing else comes into a mean.
std::string plan_group(const std::string& group);       ///< "plan" of "points", "tuning_plan" of "tuning"
std::string outside_group(const std::string& group);    ///< "outside", "tuning_outside"
std::string outside_count(const std::string& outside);  ///< "outside_runs": root attribute with the number of its rows
std::string cosine_group(const std::string& group);     ///< "points_cosine", "outside_cosine"

/// False, and neither `group` nor its cosines written, when no point is finished. The plan and what is outside are written all the
/// same.
bool write_points(H5Document& document, const std::string& group, const Sweep& sweep);

/// Which of the stored runs of the present grid are kept.
enum class Stored { ended_well, all };

/// Takes runs from what write_points() wrote, whether they stand within or outside the grid that the file had. Those that are no points
/// of `sweep` become Sweep::outside, unless they were not run (SweepPoint::invalid).
void take_stored_points(const H5Reader& file, const std::string& group, Stored kept, Sweep& sweep);

/// Whether two points are the same run: equal numbers, texts and seed.
bool same_run(const SweepPoint& a, const SweepPoint& b, const std::vector<bool>& numeric);

/// The HDF5 file of a sweep: the table of its points, rewritten as a whole. It is written also without a finished
/// point: a shard that has none is a part that merges, and what was stopped before the first has a file to resume.
class SweepFile {
 public:
  SweepFile(const SweepFiles& files, const Config& base);

  /// Takes the points from the file that exists. UserError when it is not a sweep of the same config: only the values of its axes,
  /// the seeds, threads and output keys may differ.
  void restore(Stored kept, SweepGrid& grid);

  void write(const Sweep& sweep);

  /// The size that write() would give the file.
  std::size_t bytes(const Sweep& sweep) const;

 private:
  H5Document document(const Sweep& sweep) const;
  void expect_same_config(const H5Reader& file, const SweepGrid& grid) const;

  SweepFiles files_;
  RunRecord record_;
  Overwrite overwrite_;
  double earlier_ = 0;  ///< seconds of the sweep that is resumed
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace nudge
