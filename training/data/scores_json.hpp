// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "training/data/scores.hpp"
#include "training/data/text_dataset.hpp"

namespace nudge {

// Results as JSON are what `--json` prints and what Python gets as dicts; what was not measured is NaN, which prints as null.

/// JSON of a text's reference losses: {"validation": {"chance": …, "unigram": …, "bigram": …}, "test": …}; null without
/// a text.
nlohmann::json json_of(const std::optional<TextLines>& lines);

/// JSON of reference scores: {"metric": …, "validation": {"chance": {"loss": …, "score": …}, …}, "test": …}; null where
/// there are none.
nlohmann::json json_of(const std::optional<ReferenceScores>& references);

}  // namespace nudge
