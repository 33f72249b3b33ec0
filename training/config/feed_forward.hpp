// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "training/models/network_plan.hpp"

namespace nudge {

/// The value of train.beside, and the name of an entrant, that stands for the plain feed-forward network.
inline constexpr const char* feed_forward_name = "feed_forward";

/// The plain feed-forward network of as many weights as the config's, on exact numbers, by ordinary backprop, as settings "key=value" to be put
/// behind the config's own:
///   of symbols      a transformer (network.kind = transformer, with a table of positions where the network has one), as many
///                   layers as the network has blocks, M' hidden units so that its weights between the tables and the read-out are as
///                   many: M' = (n/L − 4C²)/(2C), rounded, at least 1; of a block of attention and M memories exactly M' = M/2;
///   of features     a perceptron of the same widths (network.kind = hopfield or convolutional, hopfield.feedback = none), its units those of
///                   the config where hopfield.form = projected has them, else relu and a linear output.
/// One sweep of unit steps is its forward pass, and bptt through it is backprop. Data, batches, optimizer and schedule are those of
/// the config.
std::vector<std::string> feed_forward_settings(const Config& config);

/// The config with them.
Config feed_forward_config(const Config& config);

}  // namespace nudge
