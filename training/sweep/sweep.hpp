// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/measured.hpp"
#include "sim/config/config.hpp"
#include "training/data/text_dataset.hpp"
#include "training/sweep/spread.hpp"
#include "training/train/train_run.hpp"

namespace nudge {

/// Config as it was given: the text of the file, its name in messages, and the settings of --set. A sweep reads it
/// again for each of its points, so that a swept preset brings its values along.
struct ConfigSource {
  std::string name, text;
  std::vector<std::string> settings;
};

/// Reads a config file. UserError when it cannot be read.
ConfigSource read_config_source(const std::string& path, const std::vector<std::string>& settings);

/// Shows the value of a key in tables and figures: an empty text is shown as "none".
inline std::string shown_value(const std::string& value) { return value.empty() ? "none" : value; }

/// Run of a sweep.
struct SweepPoint {
  std::vector<std::string> values;  ///< values of the swept keys, as the config prints them
  std::vector<double> numbers;      ///< values of the swept keys in SI units, NaN for a key that is not a number
  std::int64_t seed = 0;
  std::string status;                    ///< status: "ok", or the error text; empty: not run yet
  std::vector<double> metrics;           ///< values in the order of Sweep::metrics, NaN where not measured
  std::vector<GroupCosine> groups = {};  ///< cosine of each parameter group; empty when not measured
  double seconds = std::numeric_limits<double>::quiet_NaN();  ///< duration; NaN: it was not run

  /// True if its values break a rule (sweep.invalid = skip): it cannot be run.
  bool invalid() const { return status.starts_with(kInvalid); }
  static constexpr const char* kInvalid = "invalid: ";
};

/// Part `index` (from 1) of `count` parts of the points: every count-th point.
struct Shard {
  std::size_t index = 1, count = 1;
  bool has(std::size_t point) const { return point % count == index - 1; }
  std::string text() const;  ///< text "2/4"
};

/// Reads a shard like "2/4". UserError: another text, or no such part.
Shard read_shard(const std::string& text);

/// Points of a sweep in the order of the grid: the last key varies fastest, seeds fastest of all.
struct Sweep {
  std::vector<std::string> keys;
  std::vector<bool> numeric;     ///< per key: a number, not a text
  std::string mode = "grid";     ///< sweep.mode
  Shard shard = {};              ///< the points that are to be run
  std::vector<Measure> metrics;  ///< numbers that each point is measured by
  std::vector<SweepPoint> points;
  /// Finished runs of the resumed file that are no points of the grid; kept in the file (rank 0).
  std::vector<SweepPoint> outside = {};
  std::optional<TextLines> lines = {};             ///< reference losses of the text, where all points share it
  std::optional<ReferenceScores> references = {};  ///< reference scores of the samples, where all points share them
  bool interrupted = false;

  std::size_t count_ok() const;
  std::size_t count_own() const;   ///< points of the shard
  std::size_t count_left() const;  ///< points of the shard without a status
};

/// Callbacks of a sweep. They come from several threads, one call of `finished` at a time.
struct SweepObserver {
  /// Called after each point, the `done`th of the shard; in `sweep`, points that have not been run have an empty
  /// status.
  std::function<void(const Sweep& sweep, const SweepPoint& point, std::size_t done)> finished = {};
  /// Called for work after the points have ended, with a text on it.
  std::function<void(const std::string& doing)> doing = {};
  std::function<bool()> stop = {};  ///< returns true to stop soon; --resume can run points that are not finished
};

struct SweepFiles {
  std::filesystem::path output;  ///< output file, rewritten as points end
  /// True: the output exists. Points that ended well are kept, the others are run, and no run is dropped.
  bool resume = false;
  Shard shard = {};  ///< shard of a sweep: run its points only
  /// Interval in s at which a training is saved beside the output; a resumed sweep continues it. A training that takes
  /// less time is not saved.
  double point_every_s = 60;
};

/// Runs sweep.grid × sweep.seeds, each point on one thread, sweep.parallel of them at the same time, on every rank that MPI
/// started (farm.hpp). Results do not depend on these numbers. Every point's config is checked before the first run. One
/// UserError has all problems; with sweep.invalid = skip they become a status of their points. A point that fails is
/// recorded with its error, the others go on. With sweep.run = train and train.cosine_every = 0 the gradient is compared at
/// the first and the last step. No point reads the test split of the text. All ranks return the same; rank 0 alone writes
/// the file and calls the observer's `finished`.
Sweep run_sweep(const ConfigSource& source, const SweepFiles& files, const SweepObserver& observer = {});

/// Treatment of a file when runs outside the present grid are to be dropped: rewrite it, or only tell.
enum class Drop { rewrite, tell };

/// Removes the finished runs of files.output that are outside the grid of the config (Sweep::outside) and returns them;
/// runs nothing. Drop::tell leaves the file as it is. UserError as in run_sweep() with files.resume.
Sweep drop_outside(const ConfigSource& source, const SweepFiles& files, Drop drop);

/// Runs of all seeds with one combination of values.
struct SweepCell {
  std::vector<std::string> values;
  int runs = 0, failed = 0;              ///< runs that ended well, and that failed
  std::string invalid = {};              ///< rule that the values break; empty: none
  std::vector<CellSpread> results = {};  ///< summary for each metric
};
std::vector<SweepCell> summarise_sweep(const Sweep& sweep);

}  // namespace nudge
