// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/wait_line.hpp"

#include <fmt/format.h>

#include "apps/work_rate.hpp"

namespace nudge {

WaitLine::WaitLine(const std::string& what) {
  if (!line_.terminal()) return;
  ticker_.emplace([this, what](int seconds) { line_.show(fmt::format("{}: {}", what, duration_text(seconds))); });
}

}  // namespace nudge
