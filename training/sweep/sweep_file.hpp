// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <string>
#include <vector>

#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"
#include "sim/io/run_record.hpp"
#include "training/sweep/sweep.hpp"
#include "training/sweep/sweep_grid.hpp"

namespace nudge {

/// Names of the groups of a table of runs in the file of a study. `group` is "points" of a sweep, "tuning" or "test" of
/// a comparison:
///   <group>, <group>_cosine  a row per finished run, in the order of the grid, and the cosines of its parameter groups;
///   plan_group()             every run, finished or not;
///   outside_group()          the same columns, and seconds, of finished runs that are none of the present grid's.
/// Readers of the first two see the present grid alone, so that nothing else comes into a mean.
std::string plan_group(const std::string& group);  ///< plan of a group: "plan" of "points", "tuning_plan" of "tuning"
std::string outside_group(const std::string& group);  ///< runs outside the grid: "outside", "tuning_outside"
/// Root attribute with the number of these runs: "outside_runs".
std::string outside_count(const std::string& outside);
std::string cosine_group(const std::string& group);  ///< cosines of a group: "points_cosine", "outside_cosine"

/// Writes the table of runs of `group`. Without a finished point returns false and writes neither `group` nor its
/// cosines; the plan and the runs outside are written all the same.
bool write_points(H5Document& document, const std::string& group, const Sweep& sweep);

/// Choice of the stored runs of the present grid that are kept.
enum class Stored { ended_well, all };

/// Takes runs that write_points() wrote, within or outside the grid that the file had. Runs that are no points of
/// `sweep` become Sweep::outside, unless they were not run (SweepPoint::invalid).
void take_stored_points(const H5Reader& file, const std::string& group, Stored kept, Sweep& sweep);

/// Moves runs of Sweep::outside that ended well to planned points that are not run yet.
void adopt_outside(Sweep& sweep);

/// True if two points are the same run: equal numbers, texts and seed.
bool same_run(const SweepPoint& a, const SweepPoint& b, const std::vector<bool>& numeric);
/// True if two points are the same run but for their seeds.
bool same_place(const SweepPoint& a, const SweepPoint& b, const std::vector<bool>& numeric);

/// HDF5 file of a sweep: the table of its points, rewritten as a whole. It is written also without a finished point. A
/// shard without points is then a part that merges, and a sweep stopped before its first point has a file to resume.
/// `kind`: of another study with one table of points, "spec".
class SweepFile {
 public:
  SweepFile(const SweepFiles& files, const Config& base, const std::string& kind = "sweep");

  /// Takes the points from the existing file. UserError when it is not a sweep of the same config: only the values of
  /// its axes, the seeds, threads and output keys may differ.
  void restore(Stored kept, SweepGrid& grid);

  void write(const Sweep& sweep);

  /// Size in bytes that write() would give the file.
  std::size_t bytes(const Sweep& sweep) const;

 private:
  H5Document document(const Sweep& sweep) const;
  void expect_same_config(const H5Reader& file, const SweepGrid& grid) const;

  SweepFiles files_;
  std::string kind_;
  RunRecord record_;
  Overwrite overwrite_;
  double earlier_ = 0;  ///< seconds spent before by the resumed sweep
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// As training/data/scores_json.hpp.

/// JSON of a cell: {"mean": …, "deviation": …, "median": …, "runs": …, "failed": …}
nlohmann::json json_of(const CellSpread& cell);

/// JSON of the swept keys of a point, numbers in SI units.
nlohmann::json values_json(const Sweep& sweep, const SweepPoint& point);

/// JSON of a point: {"seed": …, "status": …, "seconds": …, the swept keys, the metrics, "group_cosines": {…}}
nlohmann::json json_of(const Sweep& sweep, const SweepPoint& point);

/// JSON of the event of a finished point, the `done`th: the point's JSON, and "event": "point", "done", "total".
nlohmann::json event_json(const Sweep& sweep, const SweepPoint& point, std::size_t done);

/// JSON of the points that have been run.
nlohmann::json points_json(const Sweep& sweep);

/// Text on the first run of these tables that failed, and what may help, to stand behind "no run ended well"; empty:
/// none failed.
std::string first_failure(const std::vector<const Sweep*>& tables);

/// Sentence on a sweep that ended without a result; empty: a point ended well, or none failed.
std::string sweep_failure(const Sweep& sweep);

/// JSON of a sweep: {"keys": …, "points": […], "summary": [one per cell], "ok": …, "failure": sweep_failure(),
/// "interrupted": …, "outside": …, "text": …, "reference": …}
nlohmann::json json_of(const Sweep& sweep);

}  // namespace nudge
