// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "training/spec/spec_json.hpp"

namespace nudge {

/// What a plan takes, before it starts: "at most 920 trainings: ...", and the keys that do not apply.
std::string spec_plan_text(const SpecPlan& plan);

/// The sheet: references, table of requirements, Pareto front, notes.
std::string spec_text(const SpecRun& run, const SpecSheet& sheet);

// Parts of the sheet, for a page too. Sentences end with a line break each; the first row of a table is its head.

/// Scores of digital weights, the strongest baseline, clean and the design, and the loss that counts.
std::string spec_references(const SpecRun& run, const SpecSheet& sheet);
std::vector<std::vector<std::string>> requirement_rows(const SpecSheet& sheet);
/// Keys that move together, what the intervals cover, and what they can resolve.
std::string spec_notes(const SpecRun& run, const SpecSheet& sheet);
/// "Pareto front of 18 designs (5 on it): ...", without a line break.
std::string front_heading(const SpecRun& run, const SpecSheet& sheet);
std::vector<std::vector<std::string>> front_rows(const SpecRun& run, const SpecSheet& sheet);
std::string front_notes();

}  // namespace nudge
