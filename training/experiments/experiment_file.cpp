// SPDX-License-Identifier: Apache-2.0
#include "training/experiments/experiment_file.hpp"

#include <fmt/format.h>

#include <set>

#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "training/config/stored_config.hpp"

namespace nudge {
namespace {

constexpr const char* kUnderWay = "underway";

std::string group_of(const ExperimentRun& run) {
  return fmt::format("runs/{}/{}/seed{}", run.task, run.variant, run.seed);
}

void write_run(H5Document& document, const ExperimentRun& run) {
  const std::string group = group_of(run);
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

void read_run(const H5Reader& file, ExperimentRun& run) {
  const std::string group = group_of(run);
  run.log.restore(file, group + "/");
  if (static_cast<std::int64_t>(run.log.values("loss").size()) != run.steps) {
    file.fail(group + "/loss", fmt::format("{} steps (the config has {})", run.log.values("loss").size(), run.steps));
  }
  run.wall_time_s = file.real_attribute("wall_time_s", group);
  run.status = "ok";
}

void write_results(H5Document& document, const Experiment& experiment) {
  std::vector<const ExperimentRun*> finished;
  for (const ExperimentRun& run : experiment.runs) {
    if (!run.status.empty()) finished.push_back(&run);
  }
  if (finished.empty()) return;
  const auto column = [&](const std::string& name, const std::string& unit, const std::string& description, auto get) {
    std::vector<decltype(get(*finished.front()))> values;
    values.reserve(finished.size());
    for (const ExperimentRun* run : finished) values.push_back(get(*run));
    document.column("results/" + name, std::move(values), {unit, description, {"run"}});
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
  record_.kind = "experiment";
  record_.config = dump_toml(config, DumpComments::none);
  record_.seed = config.integer("seed");
  record_.precision = config.text("precision");
  record_.threads = thread_count(static_cast<int>(config.integer("threads")));
  record_.started = now_utc();
}

void ExperimentFile::restore(Experiment& experiment) {
  const H5Reader file(files_.output);
  expect_stored_config(file, "experiment", config_, [](const std::string& key) {
    static const std::set<std::string> lists = {"experiment.tasks", "experiment.mixers", "experiment.seeds",
                                                "experiment.kappa"};
    return lists.count(key) > 0;
  });
  record_.started = file.text_attribute("started");
  earlier_ = file.real_attribute("wall_time_s");
  if (file.has(kUnderWay)) under_way_ = file.text_attribute("run", kUnderWay);
  if (!file.has("results")) return;
  const auto seeds = file.integers("results/seed", H5Shape{-1});
  const H5Shape rows{static_cast<Index>(seeds.size())};
  const auto tasks = file.texts("results/task", rows);
  const auto variants = file.texts("results/variant", rows);
  const auto statuses = file.texts("results/status", rows);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    ExperimentRun* run = find_run(experiment, tasks[i], variants[i], seeds[i]);
    if (run != nullptr && statuses[i] == "ok") read_run(file, *run);
  }
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
  for (const ExperimentRun& run : experiment.runs) {
    if (!run.status.empty()) write_run(document, run);
  }
  write_results(document, experiment);
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
