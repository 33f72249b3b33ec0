// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "training/data/task.hpp"
#include "training/tapes/tape_model.hpp"

namespace nudge {

/// A task of `nudge experiment`: data, the models that are compared on it, and what they are measured by. To add one: a
/// function `ExperimentTask <name>_task()` in a file of its own, and its name in the list of registry.cpp.
struct ExperimentTask {
  std::string name;
  std::string summary;
  std::string axis;  ///< what the variants differ in: "mixer", "kappa"
  std::vector<Measure> measures;

  /// What is compared; names of groups in the HDF5 file, so without '/'.
  std::vector<std::string> (*variants)(const Config& config);
  std::int64_t (*steps)(const Config& config);

  /// The data of a seed, experiment.test_examples of them held out; UserError naming what is wrong with the sizes.
  std::unique_ptr<Task> (*data)(const Config& config, std::uint64_t seed);

  /// The model of a variant and seed on them; the same.
  template <class S>
  using Make = std::unique_ptr<TapeModel<S>> (*)(const Config& config, const std::string& variant,
                                                 const TaskSizes& sizes, std::uint64_t seed);
  Make<float> single;
  Make<double> twofold;
};

const std::vector<ExperimentTask>& experiment_tasks();

/// Names in the order of the list.
std::vector<std::string> experiment_task_names();

/// The task of a name in the list (a choice of the config row).
const ExperimentTask& experiment_task(const std::string& name);

/// One validation batch of experiment.test_examples, no test part: every choice of an experiment is its config's.
HeldOutSizes experiment_held_out(const Config& config);

/// train.steps.
std::int64_t train_steps(const Config& config);

}  // namespace nudge
