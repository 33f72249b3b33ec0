// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "circuits/linear_map.hpp"

namespace nudge {

/// When the devices of an array are written anew (crossbar.refresh, `nudge test --refresh`), and with what: the weights that they had after their
/// last write. Updates of learning do not set the clock back.
template <class S>
class RefreshClock {
 public:
  explicit RefreshClock(double interval_s) : interval_s_(interval_s) {}  ///< 0: never

  bool active() const { return interval_s_ > 0; }
  void written(const Matrix<S>& weights) { meant_ = weights; }

  /// Lets `seconds` pass: wait(s) for the time to the next rewriting and write(weights) there, again and again. UserError for too many of
  /// them.
  template <class Wait, class Write>
  void pass(double seconds, Wait wait, Write write) {
    check(seconds);
    for (double left = seconds;;) {
      const double share = active() ? std::min(left, interval_s_ - clock_s_) : left;
      if (share > 0) wait(share);
      left -= share;
      if (!due_after(share)) return;
      write(Matrix<S>(meant_));
      if (!(left > 0)) return;
    }
  }

  void append_state(std::vector<StateArray<S>>& all);
  void state_restored();

 private:
  void check(double seconds) const;
  bool due_after(double seconds);

  double interval_s_;
  double clock_s_ = 0;
  Matrix<S> meant_;
  Matrix<S> digits_ = Matrix<S>::Zero(1, 3);
};

}  // namespace nudge
