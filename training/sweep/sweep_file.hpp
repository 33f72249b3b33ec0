// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "sim/io/run_record.hpp"
#include "training/sweep/sweep_grid.hpp"

namespace nudge {

/// A row per finished point below `group`, in the order of the grid, and the cosines of the parameter groups below
/// <group>_cosine; every point, finished or not, below <group>_plan (plan of points). False, and nothing written, when no
/// point is finished.
bool write_points(H5Document& document, const std::string& group, const Sweep& sweep);

/// "plan" of "points", "tuning_plan" of "tuning"; "points_cosine".
std::string plan_group(const std::string& group);
std::string cosine_group(const std::string& group);

/// Which of the stored points are kept.
enum class Stored { ended_well, all };

/// Takes points from what write_points() wrote.
void take_stored_points(const H5Reader& file, const std::string& group, Stored stored, Sweep& sweep);

/// The HDF5 file of a sweep: /points with a row per finished point, in the order of the grid; rewritten as a whole.
class SweepFile {
 public:
  SweepFile(const SweepFiles& files, const Config& base);

  /// Takes the points that ended well from the file that exists. UserError when it is not a sweep of the same config:
  /// only the values and seeds, threads and output keys may differ.
  void restore(SweepGrid& grid);

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
