// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/config.hpp"

namespace nudge {

/// UserError, a line each, for keys that are set and that nothing reads: of [mixer], those not at their defaults that change nothing of the
/// network (unread_mixer_keys()), naming mixers that read them; of a network that is no circuit, all that a file or an option sets outside
/// the data, the training and NetworkKind::reads. Where a sweep or a comparison varies network.kind or a mixer the config is one for
/// several, and what one of them reads may be set.
void expect_keys_read(const Config& config);

}  // namespace nudge
