// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "sim/base/machine_memory.hpp"
#include "sim/config/config.hpp"
#include "training/data/task.hpp"
#include "training/models/network_plan.hpp"
#include "training/models/registry.hpp"

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

/// UserError where crossbar.threshold lets a weight of an equilibrium jump by more than 4 learning rates of Adam, θ q > 4 η, q what a
/// pulse moves it by in the array that is written most coarsely. A threshold of one pulse is what the devices are, and allowed;
/// the steps of SGD have no size that is known before training. Measured on reram_es in a character block: 2.5 to 3.9 η train,
/// beyond that the free phase ran away within 50 steps (docs/reference/update_rules.md).
void check_write_threshold(const Config& config, const CrossbarSpec& arrays, const NetworkPlan& plan);

}  // namespace nudge
