// SPDX-License-Identifier: Apache-2.0
#include "training/train/outlier_guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"

namespace nudge {

OutlierGuard::OutlierGuard(const OutlierGuardOptions& options) : options_(options) {
  if (!(options.ratio == 0 || (options.ratio > 1 && std::isfinite(options.ratio)))) {
    throw UserError(fmt::format("outlier guard: ratio = {} (must be > 1, or 0 to switch it off)", options.ratio));
  }
  if (!(options.decay >= 0 && options.decay < 1)) {
    throw UserError(fmt::format("outlier guard: decay = {} (must be >= 0 and < 1)", options.decay));
  }
  if (options.warmup < 1) {
    throw UserError(fmt::format("outlier guard: warmup = {} (must be at least 1)", options.warmup));
  }
}

StepDecision OutlierGuard::decide(double norm) {
  NUDGE_EXPECT(!(norm < 0));
  if (!std::isfinite(norm)) {
    nonfinite_ += 1;
    return StepDecision::reject_nonfinite;
  }
  seen_ += 1;
  const double threshold = options_.ratio * average_;
  const bool outlier = threshold > 0 && norm > threshold;
  const double weight = std::max(1 - options_.decay, 1 / seen_);
  average_ += weight * ((outlier ? threshold : norm) - average_);
  if (!outlier || seen_ <= options_.warmup) return StepDecision::accept;
  skipped_ += 1;
  return StepDecision::skip_outlier;
}

double OutlierGuard::limit() const {
  const double threshold = options_.ratio * average_;
  return threshold > 0 && seen_ >= options_.warmup ? threshold : std::numeric_limits<double>::infinity();
}

std::vector<ScalarState> OutlierGuard::state() {
  return {{"outlier_guard/average", "1", "moving average of the gradient norm", &average_},
          {"outlier_guard/seen", "1", "finite gradient norms seen", &seen_},
          {"outlier_guard/skipped", "1", "steps skipped as outliers", &skipped_},
          {"outlier_guard/nonfinite", "1", "steps rejected as not finite", &nonfinite_}};
}

}  // namespace nudge
