// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sim/config/config.hpp"
#include "training/data/task.hpp"
#include "training/models/transformer/transformer_plan.hpp"

namespace nudge {

/// The transformer of [transformer], with C, T, M and H of [model].
std::shared_ptr<const NetworkPlan> transformer_plan(const Config& config, const TaskSizes& task);

/// 1 + κ; damping has no part in it.
double transformer_leak(const Config& config, double damping);
/// 2 L K C.
Index transformer_columns(const Config& config);

}  // namespace nudge
