// SPDX-License-Identifier: Apache-2.0
#include "training/experiments/experiment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "sim/base/errors.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/output_lock.hpp"
#include "training/config/assembly.hpp"
#include "training/config/run_options.hpp"
#include "training/config/train_options.hpp"
#include "training/config/unread_keys.hpp"
#include "training/data/characters.hpp"
#include "training/experiments/experiment_file.hpp"
#include "training/experiments/tape_learner.hpp"

namespace nudge {
namespace {

template <class S>
std::unique_ptr<TapeModel<S>> make_model(const ExperimentTask& task, const Config& config, const ExperimentRun& run,
                                         const TaskSizes& sizes) {
  const auto seed = static_cast<std::uint64_t>(run.seed);
  if constexpr (std::is_same_v<S, float>) {
    return task.single(config, run.variant, sizes, seed);
  } else {
    return task.twofold(config, run.variant, sizes, seed);
  }
}

std::int64_t count_parameters(const std::vector<Field>& fields) {
  std::int64_t count = 0;
  for (const Field& field : fields) count += field.rows() * field.cols();
  return count;
}

TapeLearnerOptions learner_options(const Config& config, const ExperimentRun& run) {
  TapeLearnerOptions options;
  const TrainOptions train = train_options(config);
  options.schedule = train.rate;
  options.schedule.steps = static_cast<std::uint64_t>(run.steps);
  options.adam = train.rule;
  options.weight_decay = config.real("experiment.weight_decay");
  options.gradient_clip = train.gradient_clip;
  options.seed = static_cast<std::uint64_t>(run.seed);
  options.threads = run_options(config).threads;
  options.log_rows = run_options(config).log_rows;
  return options;
}

template <class S>
std::unique_ptr<Learner> make_learner(const Config& config, const ExperimentRun& run, const TaskSizes& sizes) {
  const ExperimentTask& task = experiment_task(run.task);
  return std::make_unique<TapeLearner<S>>(make_model<S>(task, config, run, sizes), task.measures,
                                          learner_options(config, run));
}

TrainingLoop make_loop(const Config& config, const ExperimentRun& run) {
  const std::shared_ptr<const Task> data = experiment_task(run.task).data(config, static_cast<std::uint64_t>(run.seed));
  std::unique_ptr<Learner> learner = run_options(config).twofold() ? make_learner<double>(config, run, data->sizes())
                                                                   : make_learner<float>(config, run, data->sizes());
  LoopSettings settings = loop_settings(config, FinalTest::leave);
  settings.steps = static_cast<std::uint64_t>(run.steps);
  settings.evaluate_start = false;
  return {data, std::move(learner), settings};
}

/// What runs one run of an experiment after the other.
class Runner {
 public:
  Runner(const Config& config, const ExperimentObserver& observer, ExperimentFile& file, const Experiment& experiment)
      : config_(config), observer_(observer), file_(file), experiment_(experiment) {}

  bool go_on() const { return !observer_.stop || !observer_.stop(); }

  /// Its status is empty where it was stopped; then the file has its checkpoint.
  void run(ExperimentRun& run) const {
    const auto start = std::chrono::steady_clock::now();
    TrainingLoop loop = make_loop(config_, run);
    const double earlier = file_.is_under_way(run) ? file_.restore(run, loop) : 0;
    const auto seconds = [&] {
      return earlier + std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    const auto save = [&] {
      const bool ended = loop.finished() && !loop.stopped();
      if (!ended && loop.stuck().empty()) file_.write(experiment_, RunUnderWay{&run, &loop, seconds()});
    };
    const auto step_done = [&] {
      if (observer_.step) observer_.step(run, static_cast<std::int64_t>(loop.done()), loop.learner().log());
      return go_on();
    };
    loop.run(save, step_done);
    run.log = loop.learner().log();
    run.wall_time_s = seconds();
    run.status = loop.stuck();
    if (run.status.empty() && loop.finished() && !loop.stopped()) run.status = "ok";
  }

  /// What goes wrong in a run is its result; only our own bugs end the experiment.
  void run_or_record(ExperimentRun& run) const {
    try {
      this->run(run);
    } catch (const UserError& error) {
      run.status = error.what();
    } catch (const NumericalFailure& error) {
      run.status = error.what();
    } catch (const std::bad_alloc&) {
      run.status = "out of memory";
    }
  }

 private:
  const Config& config_;
  const ExperimentObserver& observer_;
  ExperimentFile& file_;
  const Experiment& experiment_;
};

}  // namespace

double ExperimentRun::result(std::size_t m) const {
  return status == "ok" ? log.last(experiment_task(task).measures.at(m).name)
                        : std::numeric_limits<double>::quiet_NaN();
}

std::size_t Experiment::count_ok() const {
  return static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [](const ExperimentRun& run) { return run.status == "ok"; }));
}

Experiment plan_experiment(const Config& config) {
  expect_experiment_keys_read(config);
  Experiment experiment;
  std::vector<std::string> problems;
  const auto& tasks = config.texts("experiment.tasks");
  if (tasks.empty()) problems.emplace_back("experiment.tasks is empty (name one task)");
  if (config.integers("experiment.seeds").empty()) problems.emplace_back("experiment.seeds is empty (name one seed)");
  for (const std::string& name : tasks) {
    const ExperimentTask& task = experiment_task(name);
    std::vector<std::string> variants;
    try {
      variants = task.variants(config);
    } catch (const UserError& error) {
      problems.push_back(fmt::format("{}: {}", name, error.what()));
    }
    for (const std::string& variant : variants) {
      ExperimentRun run;
      run.task = name;
      run.variant = variant;
      try {
        run.steps = task.steps(config);
        const TaskSizes sizes = task.data(config, static_cast<std::uint64_t>(run.seed))->sizes();
        run.parameters = count_parameters(make_model<float>(task, config, run, sizes)->fields());
      } catch (const UserError& error) {
        problems.push_back(fmt::format("{} {}: {}", name, variant, error.what()));
      }
      for (const std::int64_t seed : config.integers("experiment.seeds")) {
        run.seed = seed;
        experiment.runs.push_back(run);
      }
    }
  }
  if (!problems.empty()) throw UserError(fmt::format("{}", fmt::join(problems, "\n")));
  if (std::find(tasks.begin(), tasks.end(), "characters") != tasks.end()) {
    experiment.lines = text_lines(load_dataset(config));
  }
  return experiment;
}

Experiment run_experiment(const Config& config, const ExperimentFiles& files, const ExperimentObserver& observer) {
  check_output_path(files.output, files.resume ? Overwrite::replace : Overwrite::must_not_exist);
  const OutputLock lock(files.output);
  Experiment experiment = plan_experiment(config);
  use_product_kernel(config);
  ExperimentFile file(files, config);
  if (files.resume) {
    file.restore(Stored::ended_well, experiment);
    file.expect_checkpoint_within(experiment);
  }
  const Runner runner(config, observer, file, experiment);
  std::vector<ExperimentRun*> left;
  for (ExperimentRun& run : experiment.runs) {
    if (run.status.empty()) left.push_back(&run);
  }
  // What is under way comes first: there is room for one checkpoint.
  std::stable_partition(left.begin(), left.end(), [&](const ExperimentRun* run) { return file.is_under_way(*run); });
  std::size_t done = experiment.count_ok();
  if (left.empty()) file.write(experiment);
  for (ExperimentRun* run : left) {
    experiment.interrupted = !runner.go_on();
    if (experiment.interrupted) break;
    runner.run_or_record(*run);
    experiment.interrupted = run->status.empty();
    if (experiment.interrupted) break;
    file.write(experiment);
    if (observer.finished) observer.finished(*run, ++done, experiment.runs.size());
  }
  return experiment;
}

DroppedRuns drop_outside_experiment(const Config& config, const ExperimentFiles& files) {
  check_output_path(files.output, Overwrite::replace);
  const OutputLock lock(files.output);
  Experiment experiment = plan_experiment(config);
  use_product_kernel(config);
  ExperimentFile file(files, config);
  file.restore(Stored::all, experiment);
  DroppedRuns out{std::move(experiment.outside), file.checkpoint_outside(experiment)};
  experiment.outside.clear();
  if (out.finished.empty() && out.under_way.empty()) return out;
  for (const ExperimentRun& run : experiment.runs) {
    if (!file.is_under_way(run)) continue;
    TrainingLoop loop = make_loop(config, run);
    const double seconds = file.restore(run, loop);
    file.write(experiment, RunUnderWay{&run, &loop, seconds});
    return out;
  }
  file.write(experiment);
  return out;
}

std::vector<ExperimentRow> summarise_experiment(const Experiment& experiment) {
  std::vector<ExperimentRow> rows;
  std::vector<std::vector<const ExperimentRun*>> members;
  for (const ExperimentRun& run : experiment.runs) {
    if (rows.empty() || rows.back().task != run.task || rows.back().variant != run.variant) {
      rows.push_back({run.task, run.variant, 0, 0, run.parameters, 0});
      members.emplace_back();
    }
    const bool ok = run.status == "ok";
    if (!run.status.empty()) ++(ok ? rows.back().runs : rows.back().failed);
    if (ok) members.back().push_back(&run);
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t m = 0; m < experiment_task(rows[r].task).measures.size(); ++m) {
      std::vector<double> values;
      for (const ExperimentRun* run : members[r]) values.push_back(run->result(m));
      const std::string& measure = experiment_task(rows[r].task).measures[m].name;
      values.resize(values.size() + static_cast<std::size_t>(rows[r].failed), failed_value(measure));
      rows[r].results.push_back(cell_spread(values, measure));
    }
    for (const ExperimentRun* run : members[r]) {
      rows[r].wall_time_s += run->wall_time_s / static_cast<double>(members[r].size());
    }
  }
  return rows;
}

}  // namespace nudge
