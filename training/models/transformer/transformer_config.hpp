// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "training/data/task.hpp"
#include "training/models/transformer/transformer_plan.hpp"

namespace nudge {

/// The transformer of [transformer], with C, T, M and H of [model].
std::shared_ptr<const NetworkPlan> transformer_plan(const Config& config, const TaskSizes& task);

/// What transformer.mixer may be: attention, and the mixers of sequence models that add an update to the state.
std::vector<std::string> transformer_mixers();

/// 1 + κ; damping has no part in it.
double transformer_leak(const Config& config, double damping);
/// κ = 0.
bool transformer_feeds_forward(const Config& config);
/// 2 L K C.

}  // namespace nudge
