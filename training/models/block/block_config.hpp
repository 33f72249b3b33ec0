// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/config.hpp"
#include "training/data/task.hpp"
#include "training/models/block/block_plan.hpp"

namespace nudge {

/// Sizes of the block of [model] and [mixer].
ModelShape model_shape(const Config& config, Index vocabulary);

/// The mixer of model.mixer; the sizes that the config leaves at 0 follow from channels and heads.
MixerChoice mixer_choice(const Config& config);

/// Where its weights start.
InitialScales block_scales(const Config& config);

std::shared_ptr<const NetworkPlan> block_plan(const Config& config, const TaskSizes& task);

/// 1 + s c.
double block_leak(const Config& config, double damping);

}  // namespace nudge
