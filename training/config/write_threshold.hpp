// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/crossbar/crossbar_spec.hpp"
#include "sim/config/config.hpp"
#include "training/models/registry.hpp"

namespace nudge {

/// UserError where crossbar.threshold lets a weight of an equilibrium jump by more than 4 learning rates of Adam, θ q > 4 η, q what a
/// pulse moves it by in the array that is written most coarsely. A threshold of one pulse is what the devices are, and allowed;
/// the steps of SGD have no size that is known before training. Measured on reram_es in a character block: 2.5 to 3.9 η train,
/// beyond that the free phase ran away within 50 steps (docs/programming.md).
void check_write_threshold(const Config& config, const CrossbarSpec& arrays, const NetworkPlan& plan);

}  // namespace nudge
