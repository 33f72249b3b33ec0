// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "sim/io/run_record.hpp"
#include "training/sweep/point_table.hpp"
#include "training/sweep/sweep_grid.hpp"

namespace nudge {

/// The HDF5 file of a sweep: the table of its points (point_table.hpp), rewritten as a whole. It is written also without a finished
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
