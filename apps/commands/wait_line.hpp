// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "apps/commands/text_lines.hpp"
#include "sim/base/ticker.hpp"

namespace nudge {

/// Says every second what a command does and for how long, on a terminal: "fitting pulses: 12 s". Nothing in a pipe. reached: what
/// it has done by then, "37 of 1000 devices"; empty text: nothing to say.
class WaitLine {
 public:
  explicit WaitLine(const std::string& what, std::function<std::string()> reached = {});

 private:
  ProgressLine line_;
  std::optional<Ticker> ticker_;  // ends before the line
};

/// What `work` returns; a WaitLine stands meanwhile.
template <class Work>
auto while_fitting(const char* what, Work&& work, std::function<std::string()> reached = {}) {
  const WaitLine line(what, std::move(reached));
  return work();
}

}  // namespace nudge
