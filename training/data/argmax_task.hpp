// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/data/generated_task.hpp"

namespace nudge {

/// argmax: model.tokens rows of model.channels values. Each channel has one winner that is 1 larger, noise of σ = 0.05 is everywhere; the
/// last row must give every channel's largest value (appendix P of Lu & Yang, "Free Energy Mixer"), which a single convex read cannot.
std::unique_ptr<Task> argmax_task(const Config& config);

}  // namespace nudge
