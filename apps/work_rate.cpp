// SPDX-License-Identifier: Apache-2.0
#include "apps/work_rate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace nudge {

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "unknown";
  if (seconds < 9.95) return fmt::format("{:.2g} s", seconds);
  if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
  const auto minutes = static_cast<std::int64_t>(std::round(seconds / 60));
  if (minutes < 60) return fmt::format("{} min", minutes);
  if (minutes < 24 * 60) return fmt::format("{} h {} min", minutes / 60, minutes % 60);
  return fmt::format("{} d {} h", minutes / (24 * 60), minutes / 60 % 24);
}

double WorkRate::per_second(std::size_t done) const {
  if (done <= before_) return std::numeric_limits<double>::quiet_NaN();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  return static_cast<double>(done - before_) / seconds;
}

double WorkRate::seconds_left(std::size_t done, std::size_t total) const {
  return static_cast<double>(total - done) / per_second(done);
}

std::string WorkRate::text(std::size_t done, std::size_t total) const {
  const double rate = per_second(done);
  if (!std::isfinite(rate)) return "";
  return fmt::format("{}, {} left", rate_text(rate), duration_text(seconds_left(done, total)));
}

std::string rate_text(double per_second) {
  if (per_second >= 1) return fmt::format("{:.1f}/s", per_second);
  if (per_second * 60 >= 1) return fmt::format("{:.1f}/min", 60 * per_second);
  return fmt::format("{:.1f}/h", 3600 * per_second);
}

}  // namespace nudge
