// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/config.hpp"
#include "training/models/registry.hpp"

namespace mine {

/// A kind of network of one's own, network.kind = pendulum: samples clamp a hidden layer, which an output layer is linked to both ways;
/// units are linear but for the pendulums that they hang as (PendulumForce), keys pendulum.*.
nudge::NetworkKind pendulum_kind();

/// kappa of its pendulums.
double pendulum_weight(const nudge::Config& config);

}  // namespace mine
