// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sim/base/errors.hpp"

namespace nudge {

/// Outcome of one reference case: the lines to print and whether every dataset with a reference is within its tolerance.
struct CaseOutcome {
  std::string report;
  int compared = 0;
  int failed = 0;
};

/// Computes a reference case from its inputs, compares the datasets that have a reference, and writes every computed
/// dataset and the root attributes to `output` when given. UserError for malformed input (then nothing is written) and
/// for an output that exists.
CaseOutcome run_case(const std::filesystem::path& input, const std::optional<std::filesystem::path>& output);

}  // namespace nudge
