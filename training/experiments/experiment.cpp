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
#include "training/config/setup.hpp"
#include "training/data/characters.hpp"
#include "training/experiments/experiment_file.hpp"
#include "training/sweep/spread.hpp"

namespace nudge {
namespace {

template <class S>
std::unique_ptr<Problem<S>> make_problem(const ExperimentTask& task, const Config& config, const ExperimentRun& run) {
  const auto seed = static_cast<std::uint64_t>(run.seed);
  if constexpr (std::is_same_v<S, float>) {
    return task.single(config, run.variant, seed);
  } else {
    return task.twofold(config, run.variant, seed);
  }
}

std::int64_t count_parameters(const std::vector<Field>& fields) {
  std::int64_t count = 0;
  for (const Field& field : fields) count += field.rows() * field.cols();
  return count;
}

LearnerOptions learner_options(const Config& config, const ExperimentRun& run) {
  LearnerOptions options;
  options.schedule = schedule_of(config);
  options.schedule.steps = static_cast<std::uint64_t>(run.steps);
  options.adam = optimizer_options(config);
  options.weight_decay = config.real("experiment.weight_decay");
  options.gradient_clip = config.real("train.gradient_clip");
  options.evaluate_every = static_cast<std::uint64_t>(config.integer("train.evaluate_every"));
  options.seed = static_cast<std::uint64_t>(run.seed);
  options.threads = static_cast<int>(config.integer("threads"));
  return options;
}

template <class S>
void run_one(const Config& config, const ExperimentObserver& observer, ExperimentRun& run) {
  const auto start = std::chrono::steady_clock::now();
  const auto problem = make_problem<S>(experiment_task(run.task), config, run);
  run.curves = learn<S>(*problem, learner_options(config, run), [&](std::uint64_t /*step*/, const Curves& curves) {
    if (observer.step) observer.step(run, curves);
    return !observer.stop || !observer.stop();
  });
  run.wall_time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// What goes wrong in a run is its result; only our own bugs end the experiment.
void run_or_record(const Config& config, const ExperimentObserver& observer, ExperimentRun& run) {
  try {
    if (config.text("precision") == "double") {
      run_one<double>(config, observer, run);
    } else {
      run_one<float>(config, observer, run);
    }
  } catch (const UserError& error) {
    run.curves.status = error.what();
  } catch (const NumericalFailure& error) {
    run.curves.status = error.what();
  } catch (const std::bad_alloc&) {
    run.curves.status = "out of memory";
  }
}

}  // namespace

double ExperimentRun::result(std::size_t m) const {
  const bool done = curves.status == "ok" && !curves.measures.empty();
  return done ? curves.measures.back().at(m) : std::numeric_limits<double>::quiet_NaN();
}

std::size_t Experiment::count_ok() const {
  return static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [](const ExperimentRun& run) { return run.curves.status == "ok"; }));
}

Experiment plan_experiment(const Config& config) {
  Experiment experiment;
  std::vector<std::string> problems;
  if (config.texts("experiment.tasks").empty()) problems.emplace_back("experiment.tasks is empty (name one task)");
  if (config.integers("experiment.seeds").empty()) problems.emplace_back("experiment.seeds is empty (name one seed)");
  for (const std::string& name : config.texts("experiment.tasks")) {
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
        run.parameters = count_parameters(make_problem<float>(task, config, run)->fields());
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
  const auto& tasks = config.texts("experiment.tasks");
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
  if (files.resume) file.restore(experiment);
  const auto go_on = [&] { return !observer.stop || !observer.stop(); };
  std::size_t done = experiment.count_ok();
  for (ExperimentRun& run : experiment.runs) {
    if (!run.curves.status.empty()) continue;
    if (!go_on()) break;
    run_or_record(config, observer, run);
    if (run.curves.status.empty()) {  // stopped on the way: not a result
      run.curves = {};
      break;
    }
    file.write(experiment);
    if (observer.finished) observer.finished(run, ++done, experiment.runs.size());
  }
  experiment.interrupted = !go_on();
  file.write(experiment);
  return experiment;
}

std::vector<ExperimentRow> summarise_experiment(const Experiment& experiment) {
  std::vector<ExperimentRow> rows;
  std::vector<std::vector<const ExperimentRun*>> members;
  for (const ExperimentRun& run : experiment.runs) {
    if (rows.empty() || rows.back().task != run.task || rows.back().variant != run.variant) {
      rows.push_back({run.task, run.variant, 0, 0, run.parameters, 0, {}, {}});
      members.emplace_back();
    }
    const bool ok = run.curves.status == "ok";
    if (!run.curves.status.empty()) ++(ok ? rows.back().runs : rows.back().failed);
    if (ok) members.back().push_back(&run);
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t m = 0; m < experiment_task(rows[r].task).measures.size(); ++m) {
      std::vector<double> values;
      for (const ExperimentRun* run : members[r]) values.push_back(run->result(m));
      const Spread spread = spread_of_finite(values);
      rows[r].mean.push_back(spread.mean);
      rows[r].deviation.push_back(spread.deviation);
    }
    for (const ExperimentRun* run : members[r]) {
      rows[r].wall_time_s += run->wall_time_s / static_cast<double>(members[r].size());
    }
  }
  return rows;
}

}  // namespace nudge
