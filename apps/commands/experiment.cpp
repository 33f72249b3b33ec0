// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands/spread_text.hpp"
#include "apps/commands/study_options.hpp"
#include "apps/commands/text_lines.hpp"
#include "apps/commands/text_table.hpp"
#include "apps/config_arguments.hpp"
#include "apps/streams.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/io/json_text.hpp"
#include "training/config/run_options.hpp"
#include "training/data/scores_json.hpp"
#include "training/experiments/experiment.hpp"
#include "training/sweep/sweep_json.hpp"

namespace nudge {
namespace {

struct ExperimentOptions {
  ConfigArguments arguments;
  std::string out, resume;
  bool json = false, drop = false;
};

/// One table per task: its measures are its own.
std::string table_text(const Experiment& experiment) {
  const std::vector<ExperimentRow> rows = summarise_experiment(experiment);
  std::string out;
  for (std::size_t r = 0; r < rows.size();) {
    const ExperimentTask& task = experiment_task(rows[r].task);
    const bool of_text = experiment.lines && task.name == "characters";
    std::string note;
    bool median = false;
    std::vector<std::vector<std::string>> cells = {{task.axis, "runs", "parameters", "s/run"}};
    for (const Measure& measure : task.measures) cells[0].push_back(measure.name);
    for (; r < rows.size() && rows[r].task == task.name; ++r) {
      const ExperimentRow& row = rows[r];
      std::vector<std::string> line = {
          row.variant, row.failed > 0 ? fmt::format("{} ({} failed)", row.runs, row.failed) : std::to_string(row.runs),
          std::to_string(row.parameters), fmt::format("{:.1f}", row.wall_time_s)};
      median = median || row.failed > 0;
      for (std::size_t m = 0; m < row.results.size(); ++m) {
        line.push_back(spread_text(row.results[m]));
        if (of_text && task.measures[m].name == "validation_loss") {
          const std::string mark = unigram_mark(row.results[m].shown(), experiment.lines->validation);
          line.back() += mark;
          if (!mark.empty()) note = std::string(kUnigramNote) + "\n";
        }
      }
      cells.push_back(std::move(line));
    }
    note += median ? std::string(kMedianNote) + "\n" : "";
    if (of_text) note += lines_text(*experiment.lines) + "\n";
    out += fmt::format("{}: {}\n{}{}\n", task.name, task.summary, text_table(cells, 1), note);
  }
  return out;
}

nlohmann::json json_of(const Experiment& experiment, const std::string& file) {
  nlohmann::json runs = nlohmann::json::array();
  for (const ExperimentRun& run : experiment.runs) {
    if (run.status.empty()) continue;
    nlohmann::json one = {{"task", run.task},     {"variant", run.variant},       {"seed", run.seed},
                          {"status", run.status}, {"parameters", run.parameters}, {"wall_time_s", run.wall_time_s}};
    const auto& measures = experiment_task(run.task).measures;
    for (std::size_t m = 0; m < measures.size(); ++m) one[measures[m].name] = run.result(m);
    runs.push_back(std::move(one));
  }
  nlohmann::json rows = nlohmann::json::array();
  for (const ExperimentRow& row : summarise_experiment(experiment)) {
    nlohmann::json one = {{"task", row.task},
                          {"variant", row.variant},
                          {"runs", row.runs},
                          {"failed", row.failed},
                          {"parameters", row.parameters}};
    const auto& measures = experiment_task(row.task).measures;
    for (std::size_t m = 0; m < measures.size(); ++m) {
      one[measures[m].name] = json_of(row.results[m]);
    }
    rows.push_back(std::move(one));
  }
  return {{"file", file},
          {"runs", runs},
          {"rows", rows},
          {"outside", experiment.outside.size()},
          {"text", json_of(experiment.lines)}};
}

std::string where(const ExperimentRun& run) { return fmt::format("{}  {}  seed {}", run.task, run.variant, run.seed); }

/// What was measured last.
std::string results_text(const ExperimentRun& run, const TrainLog& log) {
  std::string text;
  for (const Measure& measure : experiment_task(run.task).measures) {
    const double value = log.last(measure.name);
    if (std::isfinite(value)) text += fmt::format("  {} {:.4g}", measure.name, value);
  }
  return text;
}

ExperimentObserver observer_for(ProgressLine& progress) {
  ExperimentObserver observer;
  observer.stop = [] { return interrupted(); };
  observer.step = [&progress](const ExperimentRun& run, std::int64_t done, const TrainLog& log) {
    const std::string text = fmt::format("{}  step {}/{}  loss {:.4g}", where(run), done, run.steps, log.last("loss"));
    const bool evaluated = log.last("validation_step") == static_cast<double>(done);
    if (evaluated && done < run.steps) {
      progress.print(text + results_text(run, log));
    } else {
      progress.show(text);
    }
  };
  observer.finished = [&progress](const ExperimentRun& run, std::size_t done, std::size_t of) {
    progress.print(fmt::format("{}/{}  {}  {:.1f} s{}", done, of, where(run), run.wall_time_s,
                               run.status == "ok" ? results_text(run, run.log) : "  " + run.status));
  };
  return observer;
}

ExperimentFiles files_of(const ExperimentOptions& options, const Config& config) {
  if (!options.resume.empty()) return {options.resume, true};
  if (!options.out.empty()) return {options.out, false};
  if (const std::string file = run_options(config).output_file; !file.empty()) return {file, false};
  return {std::filesystem::path(options.arguments.file).filename().replace_extension(".h5"), false};
}

/// Removes what is outside the config's lists, and says what.
ExitCode drop_runs(const ExperimentOptions& options, const Config& config, const ExperimentFiles& files) {
  const DroppedRuns dropped = drop_outside_experiment(config, files);
  nlohmann::json runs = nlohmann::json::array();
  std::string lines;
  for (const ExperimentRun& run : dropped.finished) {
    runs.push_back({{"task", run.task}, {"variant", run.variant}, {"seed", run.seed}, {"status", run.status}});
    lines += fmt::format("  {}  {}\n", where(run), run.status);
  }
  if (options.json) {
    const nlohmann::json out{{"file", files.output.string()}, {"runs", runs}, {"under_way", dropped.under_way}};
    answer("{}\n", json_text(out, 2));
    return ExitCode::ok;
  }
  if (!dropped.under_way.empty()) lines += fmt::format("  checkpoint of {}\n", dropped.under_way);
  answer("{} finished runs outside the present lists removed\n{}{}\n", runs.size(), lines, files.output.string());
  return ExitCode::ok;
}

ExitCode run_experiment(const ExperimentOptions& options) {
  if (!options.resume.empty() && !options.out.empty()) {
    throw UserError("experiment: --resume continues its own file and takes no --out");
  }
  if (options.drop && options.resume.empty()) {
    throw UserError("experiment: --drop removes runs of a file (name it: --resume FILE)");
  }
  const Config config = load_config(options.arguments);
  const ExperimentFiles files = files_of(options, config);
  if (options.drop) return drop_runs(options, config, files);
  Experiment experiment;
  {
    ProgressLine progress;
    experiment = run_experiment(config, files, observer_for(progress));
  }
  if (options.json) {
    answer("{}\n", json_text(json_of(experiment, files.output.string()), 2));
  } else {
    const std::string file = files.output.string();
    answer("{}{}{}\n", table_text(experiment),
           outside_note(experiment.outside.size(), "experiment", options.arguments.file, file), file);
  }
  if (experiment.interrupted) {
    end_where_nothing_is_saved(files.output.string());
    say("interrupted; continue with: nudge experiment {} --resume {}\n", options.arguments.file, files.output.string());
    return ExitCode::ok;
  }
  if (experiment.count_ok() > 0) return ExitCode::ok;
  say("nudge: no run of the experiment ended well; the first: {}\n", experiment.runs.front().status);
  return ExitCode::numerical_failure;
}

std::function<ExitCode()> add_experiment(CLI::App& app) {
  const auto options = std::make_shared<ExperimentOptions>();
  add_config_arguments(app, options->arguments);
  app.add_option("--out", options->out, "HDF5 file to write, which must not exist (default: CONFIG's name with .h5)");
  app.add_option("--resume", options->resume,
                 "Keep the runs of this HDF5 file that ended well, go on with the one under way and run the others");
  app.add_flag(
      "--drop", options->drop,
      "With --resume: remove the finished runs that are not of CONFIG's tasks, variants and seeds, name them, and "
      "run nothing");
  app.add_flag("--json", options->json, "Print runs and their summary as JSON");
  return [options] { return run_experiment(*options); };
}

}  // namespace

Command experiment_command() {
  return {"experiment", "Train and compare sequence mixers on a task",
          "nudge experiment examples/experiment_argmax.toml --out argmax.h5", add_experiment};
}

}  // namespace nudge
