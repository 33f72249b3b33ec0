// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/base/machine_memory.hpp"
#include "sim/config/config.hpp"
#include "training/data/task.hpp"
#include "training/models/network_plan.hpp"

namespace nudge {

/// What a run holds at least, in bytes, by the sizes of its network alone: nothing of it is made.
struct RunMemory {
  double weights = 0;   ///< how many numbers it learns
  double network = 0;   ///< bytes of the weights: numbers, or the arrays of devices that hold them
  double learning = 0;  ///< of the gradients of a batch's chunks, and of what the optimizer keeps
  double states = 0;    ///< of a batch: what is clamped, z* and the adjoint of every row
};

/// What is done with a network: a training learns; all else needs its weights at least.
enum class Work { reads, learns };

/// Of the parameters and nodes of a plan, whatever kind of network it is: the sizes that its maps and states are made from. A bound from
/// below: what threads, kernels, logs and batches of data take comes to it. Where the network alone is more than is free, nodes are not
/// asked for.
RunMemory run_memory(const Config& config, const NetworkPlan& plan, const FreeMemory& free = free_memory());
/// The same of a network that is no circuit, by the fields that its kind makes its parameters from; states of its tape are not counted.
RunMemory run_memory(const Config& config, const TaskSizes& task);

/// UserError where that is more than is free: "KEY = VALUE: the network needs at least 29.6 GB …", KEY the largest size that the config
/// sets among the keys that its kind of network reads, or train.batch where the states are most of it.
void check_memory(const Config& config, const RunMemory& needed, Work work, const FreeMemory& free = free_memory());

}  // namespace nudge
