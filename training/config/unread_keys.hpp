// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/config.hpp"

namespace nudge {

/// UserError, a line each, for keys that are set and that nothing reads: of [mixer], those not at their defaults that change nothing of the
/// network (unread_mixer_keys()), naming mixers that read them; of a network that is no circuit, all that a file or an option sets outside
/// the data, the training and NetworkKind::reads. Where a sweep or a comparison varies network.kind or a mixer the config is one for
/// several, and what one of them reads may be set. A choice that is made later than a
/// key is set (`--set network.kind=transformer` of a file for another network) leaves it idle, as was asked for; and the config of a file of
/// results, or of `nudge config dump`, is a record that is taken as it is.
void expect_keys_read(const Config& config);

}  // namespace nudge
