// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/choices.hpp"
#include "sim/config/config.hpp"
#include "training/data/task.hpp"
#include "training/models/resistive/resistive_plan.hpp"

namespace nudge {

/// Names of resistive.bias.
const Choices<ResistiveBias>& resistive_biases();

/// The plan of resistive.* for a task of samples. UserError for a task of symbols, more gains than layers, or one that is not
/// positive.
std::shared_ptr<const NetworkPlan> resistive_plan(const Config& config, const TaskSizes& task);

/// At most one gain behind the inputs and each hidden layer.
void check_resistive(const Config& config);

/// 0: what loads its nodes are its conductances.
double resistive_leak(const Config& config, double damping);

}  // namespace nudge
