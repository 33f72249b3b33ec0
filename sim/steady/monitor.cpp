// SPDX-License-Identifier: Apache-2.0
#include "sim/steady/monitor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/interrupts.hpp"

namespace nudge {
namespace {

// A change of the residual by less than 1 % over the window counts as none (sim/base/errors.hpp).
constexpr double kFlat = 0.99;

}  // namespace

double relative_residual(double force_norm, double state_norm) {
  return force_norm == 0 && state_norm == 0 ? 0 : force_norm / state_norm;
}

Monitor::Monitor(const SettleOptions& options, std::vector<double>& residuals)
    : options_(options), residuals_(residuals) {
  residuals_.clear();
  residuals_.reserve(static_cast<std::size_t>(options.max_steps) + 1);
}

bool Monitor::out_of_bounds(double state_norm) {
  if (limit_ < 0) limit_ = options_.divergence_ratio * std::max(state_norm, 1.0);
  if (!std::isfinite(state_norm) || state_norm > limit_) diverged_ = true;
  return diverged_;
}

bool Monitor::observe(double state_norm, double force_norm) {
  stop_point();
  observe_mean(state_norm, force_norm);
  if (diverged_) return true;
  residuals_.push_back(residual_);
  return options_.tolerance > 0 && residual_ <= options_.tolerance;
}

void Monitor::observe_mean(double state_norm, double force_norm) {
  if (out_of_bounds(state_norm) || !std::isfinite(force_norm)) diverged_ = true;
  if (std::isfinite(state_norm) && std::isfinite(force_norm)) residual_ = relative_residual(force_norm, state_norm);
}

bool Monitor::go_on_from(double state_norm) {
  limit_ = options_.divergence_ratio * state_norm;
  diverged_ = false;
  residuals_.push_back(residual_);
  return options_.tolerance > 0 && residual_ <= options_.tolerance;
}

Status Monitor::judge() const {
  if (diverged_) return Status::diverged;
  if (residual_ <= std::max(options_.tolerance, rounding_)) return Status::converged;
  if (stuck_) return Status::stalled;
  const auto window = static_cast<std::ptrdiff_t>(options_.window);
  if (std::ssize(residuals_) < window) return Status::max_steps;
  const auto begin = residuals_.end() - window;
  const auto [low, high] = std::minmax_element(begin, residuals_.end());
  if (*low > kFlat * *high) return Status::stalled;
  const auto half = window / 2;
  const double first = std::accumulate(begin, begin + half, 0.0) / static_cast<double>(half);
  const double second = std::accumulate(residuals_.end() - half, residuals_.end(), 0.0) / static_cast<double>(half);
  return second >= kFlat * first ? Status::oscillating : Status::max_steps;
}

double Monitor::decay() const {
  const auto steps = std::min(std::ssize(residuals_) - 1, static_cast<std::ptrdiff_t>(options_.window));
  if (steps < 1) return 0;
  const double first = *(residuals_.end() - 1 - steps);
  if (!(first > 0) || !std::isfinite(first)) return 0;
  return std::pow(residuals_.back() / first, 1.0 / static_cast<double>(steps));
}

SettleResult Monitor::finish(SettleResult result) const {
  result.status = judge();
  result.residual = residual_;
  result.decay = decay();
  return result;
}

}  // namespace nudge
