// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

namespace nudge {

/// Median of a reading over the steps that were neither skipped nor rolled back, and have a finite value; nothing where
/// none has. skipped, nonfinite: above 0 at such steps; empty or as long as the values.
std::optional<double> accepted_median(const std::vector<double>& values, const std::vector<double>& skipped,
                                      const std::vector<double>& nonfinite);

}  // namespace nudge
