// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace nudge {

/// Calls `tick` every second, with the seconds since its making, on a thread of its own. Its end waits for a tick that is running.
class Ticker {
 public:
  explicit Ticker(std::function<void(int seconds)> tick);
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  void run();

  std::function<void(int)> tick_;
  bool ended_ = false;
  std::mutex lock_;
  std::condition_variable end_;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace nudge
