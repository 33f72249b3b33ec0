// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "training/spec/spec_result.hpp"

namespace nudge {

/// What a plan takes, before it starts: "at most 920 trainings: ...", and the keys that do not apply.
std::string spec_plan_text(const SpecPlan& plan);

/// The sheet: references, table of requirements, Pareto front, notes.
std::string spec_text(const SpecRun& run, const SpecSheet& sheet);

/// {"requirements": [{"key", "value", "interval", "margin", "outcome", "verdict", "design", "alone", ...}], "pareto":
/// [...], "designs", "unknown", ...}. Numbers that are not known are null. value and interval are with the others as
/// specified; "alone" has those of the key alone.
nlohmann::json spec_json(const SpecRun& run, const SpecSheet& sheet);

}  // namespace nudge
