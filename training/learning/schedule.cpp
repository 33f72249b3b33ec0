// SPDX-License-Identifier: Apache-2.0
#include "training/learning/optimizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/base/errors.hpp"

namespace nudge {

const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> names{"constant", "cosine"};
  return names;
}

void check(const Schedule& schedule) {
  const auto& names = schedule_names();
  if (std::find(names.begin(), names.end(), schedule.shape) == names.end()) {
    throw UserError(fmt::format("unknown schedule \"{}\" (known: {})", schedule.shape, fmt::join(names, ", ")));
  }
  if (!(schedule.learning_rate >= 0 && std::isfinite(schedule.learning_rate))) {
    throw UserError(fmt::format("schedule: learning rate = {} (must be >= 0 and finite)", schedule.learning_rate));
  }
  if (!(schedule.final_fraction >= 0 && schedule.final_fraction <= 1)) {
    throw UserError(fmt::format("schedule: final fraction = {} (must be >= 0 and <= 1)", schedule.final_fraction));
  }
  if (schedule.steps < 1) throw UserError("schedule: steps = 0 (must be at least 1)");
}

double learning_rate_at(const Schedule& schedule, std::uint64_t step) {
  const auto k = static_cast<double>(step), warmup_steps = static_cast<double>(schedule.warmup_steps);
  const double warmup = step < schedule.warmup_steps ? (k + 1) / warmup_steps : 1.0;
  if (schedule.shape == "constant") return schedule.learning_rate * warmup;
  const double length = static_cast<double>(schedule.steps) - warmup_steps;
  const double done = step < schedule.warmup_steps ? 0.0 : step >= schedule.steps ? 1.0 : (k - warmup_steps) / length;
  const double half_cosine = (1 + std::cos(std::numbers::pi * done)) / 2;
  return schedule.learning_rate * warmup * (schedule.final_fraction + (1 - schedule.final_fraction) * half_cosine);
}

}  // namespace nudge
