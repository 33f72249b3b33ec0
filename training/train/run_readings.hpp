// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>

#include "training/models/network_plan.hpp"
#include "training/train/train_log.hpp"

namespace nudge {

/// Readings of a run on devices that its cost follows from, in the units of its log.
struct RunReadings {
  std::map<std::string, double> series;                         ///< of /train: median over the accepted steps
  std::map<std::string, std::map<std::string, double>> arrays;  ///< of each array: last finite value of a reading
  std::map<std::string, std::pair<Index, Index>> shapes;        ///< rows and columns of the weights of each array

  bool empty() const { return arrays.empty(); }
};

/// Collects the readings of a log. `plan`: of the run's network, which has the shapes of its arrays. Columns that have
/// no finite value are left out.
RunReadings run_readings(const TrainLog& log, const NetworkPlan& plan);

}  // namespace nudge
