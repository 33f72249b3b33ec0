// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "training/spec/spec_result.hpp"

namespace nudge {

/// Share in percent of two digits: "1 %"; "not known" where it is not finite.
std::string share_text(double share);
/// Loss with its interval: "0.3 % [-0.1, 0.7]".
std::string loss_text(const SpecLoss& loss);
/// Requirement with its interval: "8.1 % [2.5 %, 30 %]", "> 100 %", "fails at 12".
std::string requirement_text(const SpecAxis& axis, const SpecLimit& one);
/// Margin: "x 3", "+2"; a dash where there is none.
std::string margin_text(const SpecAxis& axis, const SpecLimit& one);
/// "met", "open" or "not met".
const char* verdict_name(SpecLimit::Verdict verdict);

/// {"requirements": [{"key", "value", "interval", "margin", "outcome", "verdict", "design", "alone", ...}], "pareto":
/// [...], "designs", "unknown", ...}. Numbers that are not known are null. value and interval are with the others as
/// specified; "alone" has the numbers of the key alone.
nlohmann::json spec_json(const SpecRun& run, const SpecSheet& sheet);

}  // namespace nudge
