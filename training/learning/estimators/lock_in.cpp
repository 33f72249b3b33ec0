// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/lock_in.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

}  // namespace

template <class S>
void LockIn<S>::start(const Oscillation& oscillation, double duration, Index rows, Index cols) {
  how_ = oscillation;
  duration_ = duration;
  periods_ = how_.periods;
  settling_ = how_.settling;
  period_steps_ = static_cast<int>(std::lround(kTurn / (how_.frequency * duration)));
  const int least = std::max(kCoarsest, 2 * how_.harmonic + 1);
  if (period_steps_ < least) {
    throw UserError(fmt::format(
        "nudge.frequency = {} is too fast: steps last {:.3g} tau, and a period needs at least {} of them. Use at "
        "most {:.3g}, or smaller steps (relaxation.step_fraction)",
        how_.frequency, duration, least, kTurn / (least * duration)));
  }
  reference_.resize(static_cast<std::size_t>(period_steps_));
  for (int n = 0; n < period_steps_; ++n) {
    double& r = reference_[static_cast<std::size_t>(n)];
    r = 0;
    for (int k = 1; k <= how_.harmonic; k += 2)
      r += 2 * k * std::sin(k * (kTurn * (n + 1) / period_steps_ + how_.phase_error));
  }
  total_weight_ = 1;
  double total = 0;
  for (int n = steps() - listened(); n < steps(); ++n) total += weight(n);
  total_weight_ = total;
  sum_.setZero(rows, cols);
  period_.setZero(rows, cols);
  before_.setZero(rows, cols);
}

template <class S>
double LockIn<S>::frequency() const {
  return kTurn / (period_steps_ * duration_);
}

template <class S>
double LockIn<S>::drive(int n) const {
  return std::sin(kTurn * ((n % period_steps_) + 0.5) / period_steps_);
}

/// w_n of a step that is listened to.
template <class S>
double LockIn<S>::weight(int n) const {
  const double left = (steps() - 1 - n) * duration_;
  return (how_.time_constant > 0 ? std::exp(-left / how_.time_constant) : 1.0) / total_weight_;
}

template <class S>
void LockIn<S>::take(int n, ConstMatrixRef<S> v) {
  const double r = reference_[static_cast<std::size_t>(n % period_steps_)];
  if (n % period_steps_ == 0) {
    before_.swap(period_);
    period_.setZero();
  }
  period_ += static_cast<S>(r / period_steps_) * v;
  if (n >= steps() - listened()) sum_ += static_cast<S>(r * weight(n)) * v;
}

template <class S>
double LockIn<S>::change() const {
  const auto size = static_cast<double>(period_.norm());
  return size > 0 ? static_cast<double>((period_ - before_).norm()) / size : 0;
}

NUDGE_BOTH_PRECISIONS_OF(LockIn)

}  // namespace nudge
