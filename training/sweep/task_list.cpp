// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/task_list.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace nudge {

TaskList::TaskList(const Sweep& sweep, const Shard& shard) {
  std::map<std::vector<std::string>, std::size_t> known;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    const SweepPoint& point = sweep.points[i];
    kinds_.push_back(known.emplace(point.values, known.size()).first->second);
    seconds_.resize(known.size(), std::numeric_limits<double>::infinity());
    if (point.status.empty() && shard.has(i)) left_.push_back(i);
    finished(i, point.seconds);
  }
}

std::optional<std::size_t> TaskList::next() {
  if (left_.empty()) return std::nullopt;
  const auto longer = [this](std::size_t a, std::size_t b) { return seconds_[kinds_[a]] < seconds_[kinds_[b]]; };
  const auto at = std::max_element(left_.begin(), left_.end(), longer);  // the first of equals
  const std::size_t point = *at;
  left_.erase(at);
  return point;
}

void TaskList::finished(std::size_t point, double seconds) {
  if (std::isfinite(seconds)) seconds_[kinds_[point]] = seconds;
}

}  // namespace nudge
