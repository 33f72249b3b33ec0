// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/config/config_table.hpp"
#include "training/models/registry.hpp"

namespace mine {

/// A kind of network of one's own, network.kind = quartic: samples clamp a hidden layer, which an output layer is linked to both ways;
/// units are linear but for the cubic springs that hold them (QuarticWell), keys quartic.*.
nudge::NetworkKind quartic_kind();

/// kappa of its springs.
double quartic_stiffness(const nudge::Config& config);

/// Its keys.
nudge::ConfigSection quartic_keys();

}  // namespace mine
