// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/calibration.hpp"

#include <fmt/format.h>

#include "devices/device_part.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

constexpr double most_rewritings = 1 << 14;

}  // namespace

template <class S>
void RefreshClock<S>::check(double seconds) const {
  if (!active() || seconds <= most_rewritings * interval_s_) return;
  throw UserError(fmt::format("refresh = {} s for a wait of {} s (must be at most {} rewritings)", interval_s_, seconds,
                              most_rewritings));
}

template <class S>
bool RefreshClock<S>::due_after(double seconds) {
  if (!active()) return false;
  clock_s_ += seconds;
  if (clock_s_ < interval_s_ * (1 - 1e-12)) return false;  // a sum of shares may round below it
  clock_s_ = 0;
  return true;
}

template <class S>
void RefreshClock<S>::append_state(std::vector<StateArray<S>>& all) {
  if (!active()) return;
  store_double(clock_s_, 0, digits_);
  all.push_back(
      {"refresh_clock", "s", "time since all devices were last written; the sum of the row is the number", &digits_});
  all.push_back({"refresh_weights", "1", "weights after the last write, which the next rewriting writes", &meant_});
}

template <class S>
void RefreshClock<S>::state_restored() {
  if (active()) clock_s_ = load_double(digits_, 0);
}

NUDGE_BOTH_PRECISIONS_OF(RefreshClock)

}  // namespace nudge
