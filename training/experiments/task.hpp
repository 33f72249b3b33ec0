// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "training/experiments/tapes/problem.hpp"

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

  /// The problem of a variant and seed; UserError naming what is wrong with the sizes.
  template <class S>
  using Make = std::unique_ptr<Problem<S>> (*)(const Config& config, const std::string& variant, std::uint64_t seed);
  Make<float> single;
  Make<double> twofold;
};

const std::vector<ExperimentTask>& experiment_tasks();

/// Names in the order of the list.
std::vector<std::string> experiment_task_names();

/// The task of a name in the list (a choice of the config row).
const ExperimentTask& experiment_task(const std::string& name);

}  // namespace nudge
