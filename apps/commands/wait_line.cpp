// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/wait_line.hpp"

#include <fmt/format.h>

#include "apps/work_rate.hpp"

namespace nudge {

WaitLine::WaitLine(const std::string& what, std::function<std::string()> reached) {
  if (!line_.terminal()) return;
  ticker_.emplace([this, what, reached = std::move(reached)](int seconds) {
    const std::string done = reached ? reached() : "";
    line_.show(fmt::format("{}: {}{}{}", what, done, done.empty() ? "" : ", ", duration_text(seconds)));
  });
}

}  // namespace nudge
