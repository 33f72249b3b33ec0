// SPDX-License-Identifier: Apache-2.0
#include "sim/base/errors.hpp"
#include "training/tapes/experiment_task.hpp"

/// The list of tasks.
#define NUDGE_TASKS(X) \
  X(argmax)            \
  X(characters)        \
  X(free_transformer)  \
  X(in_context_recall) \
  X(noisy_recall)      \
  X(fuzzy_recall)      \
  X(selective_copy)    \
  X(compression)       \
  X(memorization)

namespace nudge {

#define NUDGE_DECLARE(name) ExperimentTask name##_task();
NUDGE_TASKS(NUDGE_DECLARE)
#undef NUDGE_DECLARE

const std::vector<ExperimentTask>& experiment_tasks() {
#define NUDGE_MAKE(name) name##_task(),
  static const std::vector<ExperimentTask> tasks = {NUDGE_TASKS(NUDGE_MAKE)};
#undef NUDGE_MAKE
  return tasks;
}

std::vector<std::string> experiment_task_names() {
  std::vector<std::string> names;
  for (const ExperimentTask& task : experiment_tasks()) names.push_back(task.name);
  return names;
}

const ExperimentTask& experiment_task(const std::string& name) {
  for (const ExperimentTask& task : experiment_tasks()) {
    if (task.name == name) return task;
  }
  throw ContractViolation("unknown experiment task " + name);
}

HeldOutSizes experiment_held_out(const Config& config) {
  return {1, static_cast<Index>(config.integer("experiment.test_examples")), 0, 0};
}

std::int64_t train_steps(const Config& config) { return config.integer("train.steps"); }

}  // namespace nudge
