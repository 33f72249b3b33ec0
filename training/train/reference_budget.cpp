// SPDX-License-Identifier: Apache-2.0
#include "training/train/reference_budget.hpp"

#include <algorithm>

namespace nudge {

ReferenceRequest reference_request(const Config& config, const NetworkPlan& plan,
                                   const std::function<bool(const std::string& doing)>& progress) {
  constexpr double kAlways = 2e10;
  double parameters = 0;
  for (const Parameter& parameter : plan.parameters()) {
    parameters += static_cast<double>(parameter.shape.rows) * static_cast<double>(parameter.shape.cols);
  }
  const double samples =
      static_cast<double>(config.integer("train.steps")) * static_cast<double>(config.integer("train.batch"));
  return {config.texts("task.references"), std::max(kAlways, 5 * samples * parameters),
          static_cast<int>(config.integer("threads")), progress};
}

}  // namespace nudge
