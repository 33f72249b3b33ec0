// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/study_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/streams.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/base/ranks.hpp"
#include "sim/base/text.hpp"
#include "training/config/config_table.hpp"
#include "training/config/run_options.hpp"
#include "training/config/set_by.hpp"
#include "training/sweep/estimate.hpp"
#include "training/sweep/sweep_file.hpp"
#include "training/sweep/sweep_grid.hpp"

namespace nudge {

void add_log_format(CLI::App& app, std::string& format) {
  app.add_option("--log-format", format, "Progress lines on standard error: text, or json (one object per line)")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

void add_study_files(CLI::App& app, StudyOptions& options) {
  app.add_option("--out", options.out, "New HDF5 file to write (default: CONFIG's name with .h5)");
  app.add_option("--resume", options.resume,
                 "Continue this HDF5 file: keep the runs that ended well and run the others. Seeds and values of "
                 "the axes may change. Runs outside the new grid stay in the file and count again when their values "
                 "return");
  app.add_flag(
      "--dry-run", options.dry_run,
      "Print the points, and the time, memory and disk they need, measured by one short run per kind of point");
  add_log_format(app, options.log);
  app.add_flag("--all", options.all, "Print every column of the result");
  app.add_flag("--json", options.json, "Print the result as JSON");
}

void add_study_options(CLI::App& app, StudyOptions& options) {
  add_config_arguments(app, options.arguments);
  add_study_files(app, options);
  app.add_flag("--drop", options.drop,
               "With --resume: remove the finished runs outside the grid of CONFIG, print them, and run nothing. "
               "With --dry-run only print them");
  app.add_option("--shard", options.shard,
                 "i/n: run the i-th of n parts of the points, for job arrays. Join the files with nudge merge");
}

SweepFiles study_files(const std::string& command, const StudyOptions& options, const ConfigSource& source) {
  if (!options.resume.empty() && !options.out.empty()) {
    throw UserError(command + ": --resume continues its own file. Leave --out away");
  }
  if (options.drop && options.resume.empty()) {
    throw UserError(command + ": --drop removes runs of a file. Name it with --resume FILE");
  }
  if (options.drop && rank_count() > 1)
    throw UserError(command +
                    ": --drop works in one process. Start it without "
                    "mpirun");
  SweepFiles files;
  if (!options.shard.empty()) files.shard = read_shard(options.shard);
  if (files.shard.count > 1 && rank_count() > 1) {
    throw UserError(command +
                    ": --shard is for job arrays, and mpirun distributes the points itself. Use one of the two");
  }
  files.resume = !options.resume.empty();
  files.output = files.resume ? options.resume : options.out;
  if (!files.output.empty()) return files;
  const Config config = parse_program_config(source.name, source.text, source.settings);
  files.output = run_options(config).output_file;
  if (!files.output.empty()) return files;
  files.output = std::filesystem::path(source.name).filename().replace_extension(".h5");
  return files;
}

StudyLog::StudyLog(const std::string& format, const ConfigSource& source) : json_(format == "json") {
  if (json_ || !is_leader()) return;
  warn_of_keys(parse_program_config(source.name, source.text, source.settings));
  choices_ = given_text(study_given(source));
}

void StudyLog::begin() { say("{}", std::exchange(choices_, {})); }

void StudyLog::point(const std::string& stage, const Sweep& sweep, const SweepPoint& point, std::size_t done,
                     const std::string& place, const std::string& result) {
  if (!rate_ || stage != stage_) {
    rate_.emplace(done);  // of what ends after this point
    stage_ = stage;
  }
  const std::size_t total = sweep.count_own();
  if (!json_) {
    begin();
    line_.print(fmt::format("{}{}/{}  {}seed {}  {}", stage.empty() ? "" : stage + " ", done, total, place, point.seed,
                            result));
    const std::string rate = rate_->text(done, total);
    line_.show(rate.empty() || done == total ? "" : fmt::format("{}/{}, {}", done, total, rate));
    return;
  }
  nlohmann::json one = {{"event", "point"},
                        {"done", done},
                        {"total", total},
                        {"seed", point.seed},
                        {"status", point.status},
                        {"seconds", point.seconds},
                        {"seconds_left", rate_->seconds_left(done, total)}};
  if (!stage.empty()) one["stage"] = stage;
  one["values"] = values_json(sweep, point);
  for (std::size_t m = 0; m < sweep.metrics.size(); ++m) one["results"][sweep.metrics[m].name] = point.metrics[m];
  say("{}\n", json_text(one));
}

void StudyLog::doing(const std::string& text) {
  if (json_) return;
  begin();
  told_ ? line_.show(text) : line_.print(text);
  told_ = true;
}

namespace {

std::string bytes_text(double bytes) {
  if (!std::isfinite(bytes)) return "unknown";
  if (bytes < 1e6) return fmt::format("{:.0f} kB", bytes / 1e3);
  return bytes < 1e9 ? fmt::format("{:.0f} MB", bytes / 1e6) : fmt::format("{:.1f} GB", bytes / 1e9);
}

nlohmann::json estimate_json(const StudyEstimate& e) {
  nlohmann::json kinds = nlohmann::json::array();
  for (const PointKind& kind : e.kinds) {
    kinds.push_back({{"kind", kind.name},
                     {"points", kind.points},
                     {"seconds_per_point", kind.seconds},
                     {"bytes", kind.bytes},
                     {"problem", kind.problem}});
  }
  return {{"points", e.points},   {"left", e.left},       {"invalid", e.invalid},    {"kinds", kinds},
          {"at_once", e.at_once}, {"seconds", e.seconds}, {"memory_bytes", e.bytes}, {"file_bytes", e.file_bytes}};
}

void print_as_text(const StudyEstimate& e) {
  std::vector<std::vector<std::string>> rows = {{"kind of point", "points", "per point", "memory"}};
  std::string problems;
  for (const PointKind& kind : e.kinds) {
    rows.push_back({kind.name, std::to_string(kind.points), duration_text(kind.seconds), bytes_text(kind.bytes)});
    if (!kind.problem.empty()) problems += fmt::format("{}: will fail: {}\n", kind.name, kind.problem);
  }
  answer("{} points, {} to run, {} break a rule\n{}{}", e.points, e.left, e.invalid, text_table(rows, 1), problems);
  answer("time: about {} ({} at a time); memory: about {}; disk: {}, and twice that while the file is rewritten\n",
         duration_text(e.seconds), e.at_once, bytes_text(e.bytes), bytes_text(e.file_bytes));
}

}  // namespace

ExitCode print_estimate(
    const StudyOptions& options,
    const std::function<StudyEstimate(const std::function<bool(std::size_t, std::size_t)>& watch)>& estimate) {
  if (rank_count() > 1) throw UserError("--dry-run measures in one process. Start it without mpirun");
  StudyEstimate result;
  {
    ProgressLine line;
    result = estimate([&line](std::size_t done, std::size_t of) {
      line.show(fmt::format("measuring kind {} of {}", done + 1, of));
      return !interrupted();
    });
  }
  if (result.interrupted) {
    say("interrupted: not all kinds of points were measured\n");
    return ExitCode::ok;
  }
  if (options.json) {
    answer("{}\n", json_text(estimate_json(result), 2));
  } else {
    print_as_text(result);
  }
  return ExitCode::ok;
}

std::string outside_note(std::size_t runs, const std::string& command, const std::string& config,
                         const std::string& file) {
  if (runs == 0) return "";
  return fmt::format(
      "{} finished run{} outside the present grid: kept in the file, in no mean (nudge {} {} --resume {} --drop "
      "removes {})\n",
      runs, runs == 1 ? "" : "s", command, config, file, runs == 1 ? "it" : "them");
}

bool is_empty_part(const Sweep& table) { return table.shard.count > 1 && table.count_own() == 0; }

std::string empty_part_text(const Sweep& table, const std::string& file) {
  return fmt::format(
      "part {} is empty, because there are only {} points. {} records that and merges with the "
      "others\n",
      table.shard.text(), table.points.size(), file);
}

namespace {

/// Text of the value of a swept key: a run that was read back has the number alone.
std::string value_text(const Sweep& sweep, const SweepPoint& point, std::size_t k) {
  if (!sweep.numeric[k]) return point.values[k];
  return format_quantity(point.numbers[k], find_row(program_table(), sweep.keys[k])->unit);
}

}  // namespace

ExitCode print_dropped(const StudyOptions& options, const std::string& file, const std::vector<OutsideRuns>& tables) {
  nlohmann::json all = nlohmann::json::array();
  std::string lines;
  for (const auto& [name, table] : tables) {
    for (const SweepPoint& point : table->outside) {
      nlohmann::json one = values_json(*table, point);
      one.update({{"table", name}, {"seed", point.seed}, {"status", point.status}});
      std::string place;
      for (std::size_t k = 0; k < table->keys.size(); ++k) {
        place += axis_text(table->keys[k], value_text(*table, point, k)) + "  ";
      }
      lines += fmt::format("  {}  {}seed {}  {}\n", name, place, point.seed, point.status);
      all.push_back(std::move(one));
    }
  }
  if (all.empty() && !options.json) {
    answer("no finished run is outside the present grid: nothing to remove\n{}\n", file);
  } else if (options.json) {
    const nlohmann::json out{{"file", file}, {"removed", !options.dry_run}, {"runs", all}};
    answer("{}\n", json_text(out, 2));
  } else {
    answer("{} finished runs outside the present grid {}\n{}{}\n", all.size(),
           options.dry_run ? "would be removed" : "removed", lines, file);
  }
  return ExitCode::ok;
}

void end_where_nothing_is_saved(const std::string& file) {
  if (!std::filesystem::exists(file)) end_by_signal();
}

SweepObserver comparison_observer(StudyLog& log) {
  SweepObserver observer;
  observer.stop = [] { return interrupted(); };
  observer.doing = [&log](const std::string& text) { log.doing(text); };
  observer.finished = [&log](const Sweep& sweep, const SweepPoint& point, std::size_t done) {
    const bool tests = sweep.metrics.back().name.starts_with("test_");
    std::string place, text = point.status == "ok" ? "" : point.status;
    for (std::size_t k = 0; k < sweep.keys.size(); ++k) place += axis_text(sweep.keys[k], point.values[k]) + "  ";
    for (std::size_t m = 0; point.status == "ok" && m < sweep.metrics.size(); ++m) {
      const std::string& name = sweep.metrics[m].name;
      const bool shown = name.ends_with("_loss") || name.ends_with("_accuracy") || name.ends_with("_rmse");
      if (shown && name != "final_loss") text += fmt::format("{} {:.4f}  ", name, point.metrics[m]);
    }
    log.point(tests ? "test" : "tuning", sweep, point, done, place, text);
  };
  return observer;
}

bool is_leader() { return this_rank() == 0; }

}  // namespace nudge
