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

/// Least memory of a run, in bytes, from the sizes of its network alone. Nothing is made for it.
struct RunMemory {
  double weights = 0;   ///< count of the numbers that it learns
  double network = 0;   ///< bytes of the weights: numbers, or the arrays of devices that hold them
  double learning = 0;  ///< bytes of the gradients of a batch's chunks, and of the optimizer's memory
  double states = 0;    ///< bytes of a batch: clamped input, z* and adjoint of every row
};

/// Work with a network. A training learns; all other work reads, and needs the weights at least.
enum class Work { reads, learns };

/// Least memory by the parameters and nodes of a plan, whatever its kind: the sizes that its maps and states are made from. Threads,
/// kernels, logs and batches of data add to it. If the network alone is larger than the free memory, nodes are not counted.
RunMemory run_memory(const Config& config, const NetworkPlan& plan, const FreeMemory& free = free_memory());
/// Memory of a network that is no circuit, by the fields from which its kind makes its parameters. States of its tape are not counted.
RunMemory run_memory(const Config& config, const TaskSizes& task);

/// Throws UserError if the run needs more memory than is free: "KEY = VALUE: the network needs at least 29.6 GB …". KEY is the largest
/// size that the config sets for its kind of network, or train.batch if the states are most of it.
void check_memory(const Config& config, const RunMemory& needed, Work work, const FreeMemory& free = free_memory());

/// Throws UserError if the config does not fit the network that it plans: what a run refuses before it begins, and a study for every point
/// before its first. A null without a read-out, tiles larger than any array, a write threshold (check_write_threshold).
void check_plan(const Config& config, const NetworkPlan& plan);

/// Throws UserError if crossbar.threshold lets a weight of an equilibrium jump by more than 4 learning rates of Adam, θ q > 4 η. q is
/// the change by one pulse in the array that is written most coarsely. A threshold of one pulse is the devices' own, and allowed. The
/// steps of SGD have no size that is known before training. Measured on reram_es in a character block: 2.5 to 3.9 η train, beyond
/// that the free phase ran away within 50 steps (docs/reference/update_rules.md).
void check_write_threshold(const Config& config, const CrossbarSpec& arrays, const NetworkPlan& plan);

/// Start of every run, made of its config and its data.
struct RunParts {
  std::shared_ptr<const Task> task;
  std::shared_ptr<const NetworkPlan> plan;  ///< null: the network is no circuit
};

/// Reads the data and plans the network for it. Every run does this first, and `nudge config check` beyond its rules. UserError, each
/// line with the place of the key that it names, if data and network do not fit. UserError too if the work or the arrays need more
/// than this machine's memory (check_memory). A config whose rules hold is refused for these reasons only.
RunParts run_parts(const Config& config, Work work = Work::reads);

/// Parts of a run that needs a circuit, as run_parts() makes them. UserError for another network, with the commands
/// that it has.
RunParts circuit_parts(const Config& config);

}  // namespace nudge
