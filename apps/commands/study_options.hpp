// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/commands/text_lines.hpp"
#include "apps/config_arguments.hpp"
#include "apps/work_rate.hpp"
#include "sim/base/errors.hpp"
#include "training/sweep/estimate.hpp"

namespace nudge {

/// Command-line options that sweep and compare share.
struct StudyOptions {
  ConfigArguments arguments;
  std::string out, resume, shard, log = "text";
  bool json = false, dry_run = false, drop = false, all = false;
};

/// Declares --out, --resume, --dry-run, --log-format and --json; add_study_options() also CONFIG, --set, --drop and
/// --shard.
void add_study_files(CLI::App& app, StudyOptions& options);
void add_study_options(CLI::App& app, StudyOptions& options);

/// Declares --log-format text or json, for every command with progress lines.
void add_log_format(CLI::App& app, std::string& format);

/// Chooses the output file: that of --resume, --out, output.file, or CONFIG's name. UserError for contradictions.
SweepFiles study_files(const std::string& command, const StudyOptions& options, const ConfigSource& source);

/// Prints the line of each finished point: as text, on a terminal with rate and time left in a last line that is kept current; or
/// as one JSON object per line.
class StudyLog {
 public:
  /// Makes a log of the format "text" or "json". The first line of text stands below what the program
  /// chose (training/config/set_by.hpp).
  StudyLog(const std::string& format, const ConfigSource& source);

  /// Prints the line of a finished point. `stage`: "tuning" before the counts of a comparison, or empty; `place`: the
  /// point in words; `result`: its results in words.
  void point(const std::string& stage, const Sweep& sweep, const SweepPoint& point, std::size_t done,
             const std::string& place, const std::string& result);

  /// Shows the work beside the points, kept current on a terminal.
  void doing(const std::string& text);

 private:
  void begin();

  bool json_, told_ = false;
  std::string stage_, choices_;
  std::optional<WorkRate> rate_;
  ProgressLine line_;
};

/// Makes the observer of a comparison, whose points are tuning runs and tests.
SweepObserver comparison_observer(StudyLog& log);

/// Measures with `estimate` and prints the points, and the time, memory and disk they take, as text or JSON.
ExitCode print_estimate(
    const StudyOptions& options,
    const std::function<StudyEstimate(const std::function<bool(std::size_t, std::size_t)>& watch)>& estimate);

/// Note in a result on runs outside the grid: "4 finished runs outside the present grid are kept in F.h5 and counted in
/// no mean ..."; empty where there are none.
std::string outside_note(std::size_t runs, const std::string& command, const std::string& config,
                         const std::string& file);

/// True for a part without points, of more parts than there are points. It is no error: a script asks for as many jobs
/// as the cluster has, without counting the points, and then merges one file per job.
bool is_empty_part(const Sweep& table);
std::string empty_part_text(const Sweep& table, const std::string& file);

/// Table of a study with Sweep::outside, and its name in JSON.
struct OutsideRuns {
  std::string name;
  const Sweep* table;
};

/// Prints what --drop has removed, or would with --dry-run.
ExitCode print_dropped(const StudyOptions& options, const std::string& file, const std::vector<OutsideRuns>& tables);

/// Ends the process by the signal that interrupted it where there is no file to continue: no point had ended.
void end_where_nothing_is_saved(const std::string& file);

/// True if this process prints results and writes files; others of mpirun compute only.
bool is_leader();

}  // namespace nudge
