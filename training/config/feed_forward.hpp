// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "training/models/network_plan.hpp"

namespace nudge {

/// Value of train.beside, and name of a method, for the plain feed-forward network.
inline constexpr const char* feed_forward_name = "feed_forward";

/// Settings "key=value" of the plain feed-forward network of as many weights as the config's, on exact numbers, by ordinary backprop. They are
/// to be put behind the config's own.
/// - Symbols: a transformer (network.kind = transformer) of as many layers as the network has blocks. It has a table of positions if the
///   network has one. It has M' hidden units, so that its weights between the tables and the read-out are as many: M' = (n/L − 4C²)/(2C),
///   rounded, at least 1. For a block of attention and M memories this is exactly M' = M/2.
/// - Features: a perceptron of the same widths (network.kind = hopfield or convolutional, hopfield.feedback = none). Its units are the
///   config's if hopfield.form = projected has them, else relu and a linear output.
/// One sweep of unit steps is its forward pass, and bptt through it is backprop. Data, batches, optimizer and schedule are the config's.
std::vector<std::string> feed_forward_settings(const Config& config);

/// Config with the settings of feed_forward_settings().
Config feed_forward_config(const Config& config);

}  // namespace nudge
