// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/wait_line.hpp"

#include <fmt/format.h>

#include <chrono>

#include "apps/commands/text_lines.hpp"
#include "apps/work_rate.hpp"

namespace nudge {

WaitLine::WaitLine(std::string what) : what_(std::move(what)) {
  if (ProgressLine().terminal()) teller_ = std::thread([this] { tell(); });
}

WaitLine::~WaitLine() {
  {
    const std::lock_guard<std::mutex> hold(lock_);
    ended_ = true;
  }
  end_.notify_all();
  if (teller_.joinable()) teller_.join();
}

void WaitLine::tell() {
  ProgressLine line;
  std::unique_lock<std::mutex> hold(lock_);
  for (int seconds = 1; !end_.wait_for(hold, std::chrono::seconds(1), [this] { return ended_; }); ++seconds) {
    line.show(fmt::format("{}: {}", what_, duration_text(seconds)));
  }
}

}  // namespace nudge
