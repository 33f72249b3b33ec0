// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/config.hpp"

namespace nudge {

/// UserError, a line each, for keys that are set and that nothing reads, with what would read them: what another network.kind, task.kind,
/// device.model, estimator, optimizer or solver than the chosen one reads (NetworkKind::reads, TaskKind::reads, EstimatorKind::reads), what belongs to
/// something that is switched off or 0, everything of a circuit where the
/// network is none, and of [mixer] what changes nothing of the network (unread_mixer_keys()). Not refused are:
/// - what stands before the choice that leaves it idle: `--set network.kind=transformer` of a file for another network;
/// - what a sweep or a comparison chooses over: the config is one for several;
/// - the keys of a file that says most of them, as files of results and `nudge config dump` do.
void expect_keys_read(const Config& config);

/// The same of keys that only some estimators read, where the config is trained: `estimator` and train.beside run, and what `nudge
/// gradcheck` or `nudge compare` would compare does not.
void expect_estimator_keys_read(const Config& config);

}  // namespace nudge
