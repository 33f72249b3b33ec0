// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "training/data/task.hpp"

namespace nudge {

/// A network that has learnt on exact numbers and exact circuits, before anything is written into devices.
struct TrainedStart {
  std::vector<Matrix<double>> weights;  ///< by number of the parameter; float weights are exact in double
  double damping = 0;
};

/// The config with exact numbers and circuits: the sections device, crossbar, circuit, correction and reads at their
/// defaults, and those of studies (gradcheck, sweep, compare) and files too. Two configs that agree in it train the same network.
Config exact_training_config(const Config& config);

/// Trains every such network once and keeps it: the points of a sweep over imperfections start from the same one. Any thread
/// may ask; the first that asks trains, the others wait.
class TrainedStarts {
 public:
  /// The network after gradcheck.train_steps steps on exact_training_config(config) with the batches of `task`.
  std::shared_ptr<const TrainedStart> of(const Config& config, const Task& task);

  /// How many were trained.
  std::size_t trained() const;

 private:
  using Made = std::shared_ptr<const TrainedStart>;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_future<Made>> made_;  ///< by the config as text, and the steps
};

}  // namespace nudge
