// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "training/train/train_run.hpp"

namespace nudge {

// As training/data/scores_json.hpp.

/// JSON of progress: {"event": "step", "done": …, "total": …, "loss": …, …}
nlohmann::json json_of(const TrainProgress& progress);

/// JSON of a summary: {"steps": …, "loss": …, "validation_loss": …, "hardware": {…}, "beside": {…}, "null": {…}, …}.
/// Baseline runs are there only if the training has them.
nlohmann::json json_of(const TrainSummary& summary);

}  // namespace nudge
