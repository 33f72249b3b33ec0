// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace nudge {

/// Text of a duration: "45 s", "12 min", "3 h 20 min", "2 d 4 h".
std::string duration_text(double seconds);

/// Rate of work of many like parts, from the parts done since this object was made.
class WorkRate {
 public:
  explicit WorkRate(std::size_t done_before = 0) : before_(done_before) {}

  double per_second(std::size_t done) const;                       ///< rate; NaN before the first part
  double seconds_left(std::size_t done, std::size_t total) const;  ///< time left; NaN before the first part

  /// Text of rate and time left: "3.1/min, 3 h 20 min left"; empty before the first part.
  std::string text(std::size_t done, std::size_t total) const;

 private:
  std::size_t before_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Text of a rate: "3.1/s", "4.2/min" or "1.5/h".
std::string rate_text(double per_second);

}  // namespace nudge
