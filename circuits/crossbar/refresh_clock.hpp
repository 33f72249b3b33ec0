// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "circuits/linear_map.hpp"

namespace nudge {

/// When the devices of an array are written anew (crossbar.refresh), and with what: the weights that they had after their last write. Updates
/// of learning do not set the clock back.
template <class S>
class RefreshClock {
 public:
  explicit RefreshClock(double interval_s) : interval_s_(interval_s) {}

  bool active() const { return interval_s_ > 0; }
  void written(const Matrix<S>& weights) { meant_ = weights; }
  const Matrix<S>& meant() const { return meant_; }

  /// UserError for a wait of too many rewritings.
  void check(double seconds) const;
  /// Of a wait of `seconds`: how long until the next rewriting, or all of it.
  double share(double seconds) const { return active() ? std::min(seconds, interval_s_ - clock_s_) : seconds; }
  /// So much of it has passed; whether the devices are to be written now.
  bool passed(double seconds);

  void append_state(std::vector<StateArray<S>>& all);
  void state_restored();

 private:
  double interval_s_;
  double clock_s_ = 0;
  Matrix<S> meant_;
  Matrix<S> digits_ = Matrix<S>::Zero(1, 3);
};

}  // namespace nudge
