// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "training/sweep/merge_rows.hpp"

namespace nudge {

/// One table of runs of a file: write_points() of sweep_file.hpp.
struct PartTable {
  std::string name;       ///< "points" of a sweep, "tuning" and "test" of a comparison
  RowColumns rows, plan;  ///< finished runs and their cosines; all runs. Both empty: none has been run
  RowColumns outside;     ///< finished runs that are not of the plan, their cosines and seconds
  std::string plan_name() const;
  const std::vector<std::int64_t>& row() const;  ///< per point of the plan, -1: not run
  const std::vector<double>& seconds() const;    ///< that it took
  bool ok(std::size_t row) const;
  /// "device.read_noise = 0.01, seed = 2" of a point of the plan.
  std::string place(std::size_t point) const;
};

/// A file of a study: of a shard, an interrupted run, or a merged one.
struct StudyPart {
  H5Reader file;
  std::string kind;
  std::vector<PartTable> tables;
  RowColumns others;  ///< text, reference, …; not what follows from the tables
};

/// UserError: no file of a sweep or a comparison, or one that is damaged.
StudyPart read_study_part(const std::filesystem::path& path);

/// UserError with what differs, unless both are parts of one study: kind, config, build, data, and the plans of tables that both
/// have.
void expect_part_of(const StudyPart& first, const StudyPart& part);

}  // namespace nudge
