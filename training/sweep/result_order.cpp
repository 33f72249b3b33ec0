// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/result_order.hpp"

#include <algorithm>
#include <iterator>

namespace nudge {

std::vector<std::string> results_in_order(const std::vector<std::string>& names) {
  const auto holds = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  std::vector<std::string> out;
  for (const char* asked : {"test_accuracy", "test_rmse", "test_loss", "validation_accuracy", "validation_rmse",
                            "validation_loss", "cosine"}) {
    if (holds(names, asked)) out.emplace_back(asked);
  }
  std::copy_if(names.begin(), names.end(), std::back_inserter(out),
               [&](const std::string& name) { return !holds(out, name); });
  return out;
}

bool higher_is_better(const std::string& result) {
  return result.ends_with("accuracy") || result.ends_with("cosine") || result.ends_with("agreement");
}

}  // namespace nudge
