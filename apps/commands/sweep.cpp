// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>

#include "apps/columns.hpp"
#include "apps/commands/study_options.hpp"
#include "apps/commands/text_lines.hpp"
#include "apps/report/sections.hpp"
#include "apps/streams.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/base/ranks.hpp"
#include "sim/base/text.hpp"
#include "training/sweep/sweep.hpp"
#include "training/sweep/sweep_file.hpp"

namespace nudge {
namespace {

/// Text of a point: "key = value"; in a sweep of one key at a time, the key that left its baseline.
std::string place_text(const Sweep& sweep, const std::vector<std::string>& values) {
  const bool alone = sweep.mode == "one_at_a_time";
  const std::vector<std::string>& baseline = sweep.points.front().values;
  std::string out;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!alone || values[k] != baseline[k]) out += fmt::format("{} = {}  ", sweep.keys[k], shown_value(values[k]));
  }
  return out.empty() ? "baseline  " : out;
}

/// Order in which results are worth a column: scores, losses, cosines, the others.
int sweep_rank(const std::string& name) {
  if (name.ends_with("_accuracy") || name.ends_with("_rmse")) return 0;
  if (name.ends_with("_loss")) return 1;
  return name.find("cosine") != std::string::npos ? 2 : 3;
}

/// The answer of a sweep: its ranking, as the report has it.
std::string sweep_ranking(const std::string& file) {
  const report::Opening found = report::sweep_section({report::load_run_file(file)}).opening;
  return wrapped(found.title + ".\n" + found.sentence + "\n", terminal_columns(STDOUT_FILENO));
}

std::string table_text(const Sweep& sweep, bool all) {
  const bool alone = sweep.mode == "one_at_a_time";
  std::vector<std::vector<std::string>> rows(1, alone ? std::vector<std::string>{"point"} : sweep.keys);
  const std::size_t texts = rows[0].size();
  rows[0].emplace_back("runs");
  for (const Measure& metric : sweep.metrics) rows[0].push_back(metric.name);
  std::string notes, skipped;
  bool median = false;
  for (const SweepCell& cell : summarise_sweep(sweep)) {
    std::vector<std::string> row = alone ? std::vector<std::string>{place_text(sweep, cell.values)} : cell.values;
    for (std::string& value : row) value = shown_value(value);
    row.push_back(!cell.invalid.empty() ? "invalid"
                  : cell.failed > 0     ? fmt::format("{} ({} failed)", cell.runs, cell.failed)
                                        : std::to_string(cell.runs));
    if (!cell.invalid.empty())
      skipped += fmt::format("invalid: {}: {}\n", place_text(sweep, cell.values), cell.invalid);
    median = median || cell.failed > 0;
    for (std::size_t m = 0; m < sweep.metrics.size(); ++m) {
      const CellSpread& result = cell.results[m];
      row.push_back(spread_text(result));
      if (sweep.references && sweep.metrics[m].name == "validation_" + sweep.references->metric &&
          not_above_linear(*sweep.references, "validation", result.shown())) {
        row.back() += " !";
        notes = std::string(kLinearNote) + "\n";
      }
      if (sweep.metrics[m].name != "validation_loss" || !sweep.lines) continue;
      const std::string mark = unigram_mark(result.shown(), sweep.lines->validation);
      row.back() += mark;
      if (!mark.empty()) notes = std::string(kUnigramNote) + "\n";
    }
    rows.push_back(std::move(row));
  }
  const bool trained = std::any_of(sweep.metrics.begin(), sweep.metrics.end(),
                                   [](const Measure& metric) { return metric.name == "validation_loss"; });
  if (median) notes += std::string(kMedianNote) + "\n";
  if (sweep.lines && trained) notes += lines_text(*sweep.lines) + "\n";
  if (sweep.references && trained) notes += references_text(*sweep.references) + "\n";
  return short_table(rows, texts, texts, all, sweep_rank) + skipped + notes;
}

/// True for metrics that the line of a point shows: the first three, and the score of samples.
bool is_shown(const Sweep& sweep, std::size_t m) {
  const std::string& name = sweep.metrics[m].name;
  return m < 3 || name.ends_with("_accuracy") || name.ends_with("_rmse");
}

SweepObserver observer_for(StudyLog& log) {
  SweepObserver observer;
  observer.stop = [] { return interrupted(); };
  observer.doing = [&log](const std::string& text) { log.doing(text); };
  observer.finished = [&log](const Sweep& sweep, const SweepPoint& point, std::size_t done) {
    std::string text = point.status == "ok" ? "" : point.status;
    for (std::size_t m = 0; point.status == "ok" && m < sweep.metrics.size(); ++m) {
      if (!is_shown(sweep, m)) continue;
      const double value = point.metrics[m];  // of a gradient that is zero there is no cosine
      text += fmt::format("{} {}  ", sweep.metrics[m].name, std::isfinite(value) ? fmt::format("{:.4g}", value) : "-");
    }
    log.point("", sweep, point, done, place_text(sweep, point.values), text);
  };
  return observer;
}

ExitCode finish(const Sweep& sweep, const std::string& config, const std::string& file, const StudyOptions& options) {
  const bool whole = !sweep.interrupted && sweep.shard.count == 1 && sweep.count_ok() > 0;
  if (options.json) {
    nlohmann::json out = json_of(sweep);
    out["file"] = file;
    answer("{}\n", json_text(out, 2));
  } else {
    answer("{}{}{}{}\n", table_text(sweep, options.all), outside_note(sweep.outside.size(), "sweep", config, file),
           whole ? sweep_ranking(file) : "", file);
  }
  const std::string shard = sweep.shard.count > 1 ? " --shard " + sweep.shard.text() : "";
  if (sweep.interrupted) {
    end_where_nothing_is_saved(file);
    say("interrupted; continue with: nudge sweep {} --resume {}{}\n", config, file, shard);
    return ExitCode::ok;
  }
  if (is_empty_part(sweep)) {
    say("{}", empty_part_text(sweep, file));
    return ExitCode::ok;
  }
  if (sweep.count_ok() > 0) return ExitCode::ok;
  const std::string failure = sweep_failure(sweep);
  if (failure.empty()) return ExitCode::ok;  // a part of the points, and no sound one in it
  say("nudge: {}\n", failure);
  return ExitCode::numerical_failure;
}

ExitCode run_sweep(const StudyOptions& options) {
  join_ranks();
  const ConfigSource source = read_config_source(options.arguments.file, options.arguments.settings);
  const SweepFiles files = study_files("sweep", options, source);
  if (options.drop) {
    const Sweep sweep = drop_outside(source, files, options.dry_run ? Drop::tell : Drop::rewrite);
    return print_dropped(options, files.output.string(), {{"points", &sweep}});
  }
  if (options.dry_run) {
    return print_estimate(options, [&](const auto& watch) { return estimate_sweep(source, files, watch); });
  }
  Sweep sweep;
  {
    StudyLog log(options.log, source);
    sweep = run_sweep(source, files, observer_for(log));
  }
  return is_leader() ? finish(sweep, source.name, files.output.string(), options) : ExitCode::ok;
}

std::function<ExitCode()> add_sweep(CLI::App& app) {
  const auto options = std::make_shared<StudyOptions>();
  add_study_options(app, *options);
  return [options] { return run_sweep(*options); };
}

}  // namespace

Command sweep_command() {
  return {"sweep", "Run a grid of config values and seeds", "nudge sweep examples/sweep_noise.toml --out sweep.h5",
          add_sweep};
}

}  // namespace nudge
