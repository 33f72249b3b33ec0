// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "training/config/run_memory.hpp"
#include "training/data/task.hpp"
#include "training/models/network_plan.hpp"

namespace nudge {

/// What every run starts from, made of its config and its data.
struct RunParts {
  std::shared_ptr<const Task> task;
  std::shared_ptr<const NetworkPlan> plan;  ///< null: the network is no circuit
};

/// Reads the data and plans the network for it. UserError, each line with the place of the key that it names, where they do not
/// fit, or what the work holds, or the arrays, are larger than this machine's memory (check_memory): all that a config is refused for
/// once its rules hold. What `nudge config check` asks beyond them, and what a run does first.
RunParts run_parts(const Config& config, Work work = Work::reads);

/// The same for what only a circuit has. UserError for another network, with the commands that it has.
RunParts circuit_parts(const Config& config);

}  // namespace nudge
