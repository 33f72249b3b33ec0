// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/config/config.hpp"

namespace nudge {

/// UserError, a line each, for keys of [mixer] that are not at their defaults and change nothing of the network (unread_mixer_keys()),
/// naming mixers that read them. Where keys of [experiment] are set, its mixers count too: the config may be one for both.
void expect_mixer_keys_read(const Config& config);

/// The same for `nudge experiment` alone, whose mixers are those of experiment.mixers, and for data.text.
void expect_experiment_keys_read(const Config& config);

}  // namespace nudge
