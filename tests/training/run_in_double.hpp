// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "training/config/assembly.hpp"
#include "training/data/task.hpp"
#include "training/train/equilibrium_run.hpp"

namespace nudge::test {

/// A run in double precision, on the task of its config.
struct RunInDouble {
  explicit RunInDouble(const Config& settings)
      : config(settings),
        task(make_task(config)),
        plan(network_plan(config, task->sizes())),
        run(config, plan, "", Weights::configured) {}
  /// Of one batch that training does not reach.
  double loss() {
    run.evaluate(0, {task->training(1000)});
    return run.log().last("train/validation_loss");
  }
  void train(std::uint64_t steps) {
    for (std::uint64_t n = 0; n < steps; ++n) run.step(n, task->training(n));
  }
  Config config;
  std::unique_ptr<Task> task;
  std::shared_ptr<const NetworkPlan> plan;
  EquilibriumRun<double> run;
};

}  // namespace nudge::test
