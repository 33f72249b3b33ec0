// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nudge {

/// Names of results in the order in which people ask for them, the one that a run is judged by first: scores before losses, the
/// test before the validation part, then the cosine, then the others as they come. Attribute `results` of a table of runs.
std::vector<std::string> results_in_order(const std::vector<std::string>& names);

/// Whether more of a result is better: accuracies, cosines and agreements. Losses, errors and costs are better when lower.
bool higher_is_better(const std::string& result);

}  // namespace nudge
