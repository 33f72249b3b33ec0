// SPDX-License-Identifier: Apache-2.0
#include "sim/base/ticker.hpp"

#include <chrono>
#include <utility>

namespace nudge {

Ticker::Ticker(std::function<void(int seconds)> tick) : tick_(std::move(tick)), thread_([this] { run(); }) {}

Ticker::~Ticker() {
  {
    const std::lock_guard<std::mutex> hold(lock_);
    ended_ = true;
  }
  end_.notify_all();
  thread_.join();
}

void Ticker::run() {
  std::unique_lock<std::mutex> hold(lock_);
  for (int seconds = 1; !end_.wait_for(hold, std::chrono::seconds(1), [this] { return ended_; }); ++seconds) {
    tick_(seconds);
  }
}

}  // namespace nudge
