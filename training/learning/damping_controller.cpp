// SPDX-License-Identifier: Apache-2.0
#include "training/learning/damping_controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

void check(bool holds, const char* key, double value, const std::string& rule) {
  if (!holds) throw UserError(fmt::format("damping controller: {} = {} (must be {})", key, value, rule));
}

}  // namespace

DampingController::DampingController(const DampingOptions& options) : options_(options), damping_(options.initial) {
  const DampingOptions& o = options;
  check(o.minimum >= 0 && std::isfinite(o.minimum), "minimum", o.minimum, ">= 0");
  check(o.maximum >= o.minimum && std::isfinite(o.maximum), "maximum", o.maximum,
        fmt::format("at least minimum = {}", o.minimum));
  check(o.initial >= o.minimum && o.initial <= o.maximum, "initial", o.initial,
        fmt::format("between minimum = {} and maximum = {}", o.minimum, o.maximum));
  check(o.high > 0, "high", o.high, "> 0");
  check(o.low >= 0 && o.low < o.high, "low", o.low, fmt::format(">= 0 and below high = {}", o.high));
  check(o.raise >= 1 && std::isfinite(o.raise), "raise", o.raise, "a factor of at least 1");
  check(o.lower > 0 && o.lower <= 1, "lower", o.lower, "a factor > 0 and <= 1");
  check(o.patience >= 1, "patience", o.patience, "at least 1");
}

std::optional<ControlEvent> DampingController::observe(const Observation& seen) {
  const double residual = seen.step_residual;
  const bool forced = seen.skipped && options_.raise_on_skip;
  if (forced || !(residual <= options_.high)) {  // also when not a number
    high_in_a_row_ += 1;
    if (high_in_a_row_ < options_.patience) return std::nullopt;
    high_in_a_row_ = 0;
    const std::string what = forced ? "step skipped"
                             : std::isnan(residual)
                                 ? "step residual not a number"
                                 : fmt::format("step residual {:.3g} > {:.3g}", residual, options_.high);
    return set(options_.raise * damping_, seen, fmt::format("{}, {} in a row", what, options_.patience));
  }
  high_in_a_row_ = 0;
  if (residual >= options_.low) return std::nullopt;
  return set(options_.lower * damping_, seen, fmt::format("step residual {:.3g} < {:.3g}", residual, options_.low));
}

std::optional<ControlEvent> DampingController::set(double damping, const Observation& seen, std::string reason) {
  const double before = damping_;
  damping_ = std::clamp(damping, options_.minimum, options_.maximum);
  if (damping_ == before) return std::nullopt;
  return ControlEvent{seen.step, std::string(quantity()), before, damping_, std::move(reason)};
}

std::vector<ScalarState> DampingController::state() {
  return {
      {"damping_controller/damping", "1", "damping c", &damping_},
      {"damping_controller/high_in_a_row", "1", "steps in a row with a residual above the threshold", &high_in_a_row_}};
}

}  // namespace nudge
