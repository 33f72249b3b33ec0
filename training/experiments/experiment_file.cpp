// SPDX-License-Identifier: Apache-2.0
#include "training/experiments/experiment_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "training/config/run_options.hpp"
#include "training/config/stored_config.hpp"

namespace nudge {
namespace {

constexpr const char* kUnderWay = "underway";
/// In front of the groups of Experiment::outside.
constexpr const char* kOutside = "outside/";

std::string group_of(const ExperimentRun& run) {
  return fmt::format("runs/{}/{}/seed{}", run.task, run.variant, run.seed);
}

void write_run(H5Document& document, const std::string& prefix, const ExperimentRun& run) {
  const std::string group = prefix + group_of(run);
  const ExperimentTask& task = experiment_task(run.task);
  document.group(group, fmt::format("{}, {} = {}, seed {}", task.summary, task.axis, run.variant, run.seed));
  document.attribute("status", run.status, group);
  document.attribute("parameters", run.parameters, group);
  document.attribute("wall_time_s", run.wall_time_s, group);
  run.log.write(document, group + "/");
}

ExperimentRun* find_run(Experiment& experiment, const std::string& task, const std::string& variant,
                        std::int64_t seed) {
  for (ExperimentRun& run : experiment.runs) {
    if (run.task == task && run.variant == variant && run.seed == seed) return &run;
  }
  return nullptr;
}

void read_run(const H5Reader& file, const std::string& prefix, const std::string& status, ExperimentRun& run) {
  const std::string group = prefix + group_of(run);
  run.log.restore(file, group + "/");
  run.wall_time_s = file.real_attribute("wall_time_s", group);
  run.parameters = file.integer_attribute("parameters", group);
  run.status = status;
}

/// A run that the file has and the config does not name.
ExperimentRun other_run(const H5Reader& file, const std::string& task, const std::string& variant, std::int64_t seed) {
  const auto& names = experiment_task_names();
  if (std::find(names.begin(), names.end(), task) == names.end()) file.fail("results/task", "unknown task " + task);
  ExperimentRun run;
  run.task = task;
  run.variant = variant;
  run.seed = seed;
  return run;
}

using Runs = std::vector<const ExperimentRun*>;

/// Those that have a status.
Runs finished_of(const std::vector<ExperimentRun>& runs) {
  Runs finished;
  for (const ExperimentRun& run : runs) {
    if (!run.status.empty()) finished.push_back(&run);
  }
  return finished;
}

void write_finished(H5Document& document, const std::string& prefix, const Runs& finished) {
  if (finished.empty()) return;
  for (const ExperimentRun* run : finished) write_run(document, prefix, *run);
  const auto column = [&](const std::string& name, const std::string& unit, const std::string& description, auto get) {
    std::vector<decltype(get(*finished.front()))> values;
    values.reserve(finished.size());
    for (const ExperimentRun* run : finished) values.push_back(get(*run));
    document.column(prefix + "results/" + name, std::move(values), {unit, description, {"run"}});
  };
  using Run = ExperimentRun;
  column("task", "1", "what is learned", [](const Run& run) { return run.task; });
  column("variant", "1", "what is compared on the task", [](const Run& run) { return run.variant; });
  column("seed", "1", "seed of the run", [](const Run& run) { return run.seed; });
  column("status", "1", "ok, or what went wrong", [](const Run& run) { return run.status; });
  column("parameters", "1", "numbers that are learned", [](const Run& run) { return run.parameters; });
  std::set<std::string> seen;
  for (const ExperimentRun* member : finished) {
    for (const Measure& measure : experiment_task(member->task).measures) {
      if (!seen.insert(measure.name).second) continue;
      const std::string& name = measure.name;
      column(name, measure.unit, measure.description + ", of the finished model", [&name](const Run& run) {
        const auto& measures = experiment_task(run.task).measures;
        for (std::size_t m = 0; m < measures.size(); ++m) {
          if (measures[m].name == name) return run.result(m);
        }
        return std::numeric_limits<double>::quiet_NaN();
      });
    }
  }
}

}  // namespace

ExperimentFile::ExperimentFile(const ExperimentFiles& files, const Config& config)
    : files_(files), config_(config), overwrite_(files.resume ? Overwrite::replace : Overwrite::must_not_exist) {
  record_ = record_of("experiment", config);
}

void ExperimentFile::restore(Stored kept, Experiment& experiment) {
  const H5Reader file(files_.output);
  expect_stored_config(file, "experiment", config_, [](const std::string& key) {
    static const std::set<std::string> lists = {"experiment.tasks", "experiment.mixers", "experiment.seeds",
                                                "experiment.kappa"};
    return lists.count(key) > 0;
  });
  record_.started = file.text_attribute("started");
  earlier_ = file.real_attribute("wall_time_s");
  if (file.has(kUnderWay)) under_way_ = file.text_attribute("run", kUnderWay);
  for (const std::string prefix : {"", kOutside}) take_runs(file, prefix, kept, experiment);
}

void ExperimentFile::take_runs(const H5Reader& file, const std::string& prefix, Stored kept, Experiment& experiment) {
  if (!file.has(prefix + "results")) return;
  const auto seeds = file.integers(prefix + "results/seed", H5Shape{-1});
  const H5Shape rows{static_cast<Index>(seeds.size())};
  const auto tasks = file.texts(prefix + "results/task", rows);
  const auto variants = file.texts(prefix + "results/variant", rows);
  const auto statuses = file.texts(prefix + "results/status", rows);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    ExperimentRun* run = find_run(experiment, tasks[i], variants[i], seeds[i]);
    if (run == nullptr) {
      experiment.outside.push_back(other_run(file, tasks[i], variants[i], seeds[i]));
      read_run(file, prefix, statuses[i], experiment.outside.back());
      continue;
    }
    if (kept == Stored::ended_well && statuses[i] != "ok") continue;
    read_run(file, prefix, statuses[i], *run);
    const auto steps = static_cast<std::int64_t>(run->log.values("loss").size());
    if (run->status == "ok" && steps != run->steps) {
      file.fail(prefix + group_of(*run) + "/loss", fmt::format("{} steps (the config has {})", steps, run->steps));
    }
  }
}

std::string ExperimentFile::checkpoint_outside(const Experiment& experiment) const {
  const auto is_it = [this](const ExperimentRun& run) { return is_under_way(run); };
  const bool within = !under_way_ || std::any_of(experiment.runs.begin(), experiment.runs.end(), is_it);
  return within ? "" : *under_way_;
}

void ExperimentFile::expect_checkpoint_within(const Experiment& experiment) const {
  const std::string run = checkpoint_outside(experiment);
  if (run.empty()) return;
  throw UserError(fmt::format(
      "{}: the run under way, {}, is none of the config's: its checkpoint would be lost (end it with the config "
      "that it was started with, or remove it with --drop)",
      files_.output.string(), run));
}

std::string ExperimentFile::name_of(const ExperimentRun& run) { return group_of(run); }

double ExperimentFile::restore([[maybe_unused]] const ExperimentRun& run, TrainingLoop& loop) const {
  NUDGE_EXPECT(is_under_way(run));
  const H5Reader file(files_.output);
  loop.restore(file, std::string(kUnderWay) + "/");
  return file.real_attribute("wall_time_s", kUnderWay);
}

void ExperimentFile::write(const Experiment& experiment, const std::optional<RunUnderWay>& under_way) {
  H5Document document;
  record_.wall_time_s = earlier_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  add_run_record(document, record_);
  document.attribute("runs_total", static_cast<std::int64_t>(experiment.runs.size()));
  write_finished(document, "", finished_of(experiment.runs));
  write_finished(document, kOutside, finished_of(experiment.outside));
  if (!experiment.outside.empty()) {
    document.attribute("outside_runs", static_cast<std::int64_t>(experiment.outside.size()));
  }
  if (under_way) {
    document.group(kUnderWay, "checkpoint of the run that is not finished");
    document.attribute("run", name_of(*under_way->run), kUnderWay);
    document.attribute("wall_time_s", under_way->seconds, kUnderWay);
    under_way->loop->write(document, std::string(kUnderWay) + "/");
  }
  if (experiment.lines) write_text_lines(*experiment.lines, document);
  document.write(files_.output, overwrite_);
  overwrite_ = Overwrite::replace;
}

}  // namespace nudge
