// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "apps/commands/text_lines.hpp"
#include "sim/base/ticker.hpp"

namespace nudge {

/// Says every second what a command does and for how long, on a terminal: "fitting pulses: 12 s". Nothing in a pipe.
class WaitLine {
 public:
  explicit WaitLine(const std::string& what);

 private:
  ProgressLine line_;
  std::optional<Ticker> ticker_;  // ends before the line
};

/// What `work` returns; a WaitLine stands meanwhile.
template <class Work>
auto while_fitting(const char* what, Work&& work) {
  const WaitLine line(what);
  return work();
}

}  // namespace nudge
