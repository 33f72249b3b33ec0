// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "apps/commands.hpp"
#include "apps/commands/spec_answer.hpp"
#include "apps/commands/study_options.hpp"
#include "apps/streams.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/base/ranks.hpp"
#include "sim/base/text.hpp"

namespace nudge {
namespace {

/// Text of a training: its label, and the value of its key.
std::string training_place(const SpecPlan& plan, const SweepPoint& point) {
  const std::string& label = point.values.front();
  for (const SpecAxis& axis : plan.found.axes) {
    if (label != alone_label(axis) && label != together_label(axis)) continue;
    for (std::size_t k = 0; k < plan.columns.size(); ++k) {
      if (plan.columns[k] == axis.keys.front()) return fmt::format("{} = {}  ", label, point.values[k + 1]);
    }
  }
  return label + "  ";
}

SweepObserver spec_observer(StudyLog& log, const SpecPlan& plan) {
  SweepObserver observer;
  observer.stop = [] { return interrupted(); };
  observer.doing = [&log](const std::string& text) { log.doing(text); };
  observer.finished = [&log, &plan](const Sweep& sweep, const SweepPoint& point, std::size_t done) {
    std::string text = point.status == "ok" ? "" : point.status;
    for (std::size_t m = 0; point.status == "ok" && m < sweep.metrics.size(); ++m) {
      if (sweep.metrics[m].name == plan.metric) text = fmt::format("{} {:.4f}", plan.metric, point.metrics[m]);
    }
    log.point("", sweep, point, done, training_place(plan, point), text);
  };
  return observer;
}

ExitCode finish_spec(const SpecRun& run, const StudyOptions& options, const SweepFiles& files) {
  const std::string again = fmt::format("nudge spec {} --resume {}", options.arguments.file, files.output.string());
  const std::string shard = files.shard.count > 1 ? " --shard " + files.shard.text() : "";
  if (run.interrupted) {
    end_where_nothing_is_saved(files.output);
    say("interrupted; continue with: {}{}\n", again, shard);
    return ExitCode::ok;
  }
  if (run.waits) {
    answer(
        "part {} of this stage is done. Join the parts with nudge merge, and continue with: nudge spec {} --resume "
        "MERGED{}\n",
        files.shard.text(), options.arguments.file, " --shard " + files.shard.text());
    return ExitCode::ok;
  }
  const SpecSheet sheet = spec_sheet(run);
  if (options.json) {
    nlohmann::json out = spec_json(run, sheet);
    out["file"] = files.output.string();
    answer("{}\n", json_text(out, 2));
  } else {
    answer("{}{}\n", spec_text(run, sheet), files.output.string());
  }
  if (sheet.unknown.empty()) return ExitCode::ok;
  say("nudge: no requirement: {}\n", sheet.unknown);
  return ExitCode::numerical_failure;
}

ExitCode run_spec_command(const StudyOptions& options) {
  join_ranks();
  const ConfigSource source = read_config_source(options.arguments.file, options.arguments.settings);
  const SweepFiles files = study_files("spec", options, source);
  const SpecPlan plan = spec_plan(source);
  if (options.dry_run) {
    if (!options.json) answer("{}", spec_plan_text(plan));
    return print_estimate(options, [&](const auto& watch) { return estimate_spec(source, files, watch); });
  }
  if (is_leader() && options.log == "text") say("{}", spec_plan_text(plan));
  const SpecRun run = [&] {
    StudyLog log(options.log, source);
    return run_spec(source, files, spec_observer(log, plan));
  }();
  return is_leader() ? finish_spec(run, options, files) : ExitCode::ok;
}

std::function<ExitCode()> add_spec(CLI::App& app) {
  const auto options = std::make_shared<StudyOptions>();
  add_config_arguments(app, options->arguments);
  add_study_files(app, *options);
  app.add_option("--shard", options->shard,
                 "i/n: run the i-th of n parts of the present stage, for job arrays. Join the files with nudge merge");
  return [options] { return run_spec_command(*options); };
}

}  // namespace

Command spec_command() {
  return {"spec", "Find how good each part of a chip must be, and the designs worth building",
          "nudge spec examples/spec_digits.toml --out spec.h5", add_spec};
}

}  // namespace nudge
