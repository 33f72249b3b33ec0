// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace nudge {

/// Says every second what a command does and for how long, on a terminal: "fitting pulses: 12 s". Nothing in a pipe.
class WaitLine {
 public:
  explicit WaitLine(std::string what);
  ~WaitLine();
  WaitLine(const WaitLine&) = delete;
  WaitLine& operator=(const WaitLine&) = delete;

 private:
  void tell();

  std::string what_;
  bool ended_ = false;
  std::mutex lock_;
  std::condition_variable end_;
  std::thread teller_;  // the last member: it uses the others
};

/// What `work` returns; a WaitLine stands meanwhile.
template <class Work>
auto while_fitting(const char* what, Work&& work) {
  const WaitLine line(what);
  return work();
}

}  // namespace nudge
