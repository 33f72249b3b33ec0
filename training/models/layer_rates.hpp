// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/config/config.hpp"
#include "sim/config/param_table.hpp"
#include "training/models/network_plan.hpp"

namespace nudge {

/// Keys of a network of layers: these rows, the file of its weights (with_weights()) and train.layer_rates.
ParamTable layer_keys(const ParamTable& rows);

/// Factor of the learning rate of every parameter, by train.layer_rates; 1 where it is empty. UserError where it has not one number
/// for each layer.
std::vector<double> layer_rates(const Config& config, const std::vector<Parameter>& parameters);

}  // namespace nudge
