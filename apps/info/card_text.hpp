// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "training/card/cost_card.hpp"

namespace nudge {

std::string card_text(const CostCard& card);
nlohmann::json card_json(const CostCard& card);

/// Rows of the table of parts: a heading first, the sums last.
std::vector<std::vector<std::string>> card_rows(const CostCard& card);
/// Notes below the table of parts, a sentence each.
std::vector<std::string> card_notes(const CostCard& card);

}  // namespace nudge
