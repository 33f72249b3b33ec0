// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "training/sweep/sweep.hpp"

namespace nudge {

/// The points of a study that are left to run, and the order in which threads and processes take them: those whose
/// combination of values was not timed yet, as they stand in the list; then the longest first, so that none of them ends
/// long after all others. Results do not depend on the order.
class TaskList {
 public:
  /// Every point without a status that belongs to the shard. SweepPoint::seconds of others are known times.
  TaskList(const Sweep& sweep, const Shard& shard);

  std::size_t left() const { return left_.size(); }

  /// Takes a point off the list; nothing: all are taken.
  std::optional<std::size_t> next();

  /// Says how long a point took.
  void finished(std::size_t point, double seconds);

 private:
  std::vector<std::size_t> left_;
  std::vector<std::size_t> kinds_;  ///< per point of the study: its combination
  std::vector<double> seconds_;     ///< per combination, the last one timed; infinite before
};

}  // namespace nudge
