// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace nudge {

/// What is asked of Task::references().
struct ReferenceRequest {
  /// Names of trivial models ("chance", "majority", "mean", "linear"); "auto": all that the task has; "off": none.
  std::vector<std::string> models = {"auto"};
  /// Multiply-adds that fitting may take: a number of the config alone, so that the scores have the same bits on any machine. What does not
  /// fit in it is fitted to fewer samples, or not at all.
  double operations = std::numeric_limits<double>::infinity();
  int threads = 0;  ///< 0: all; they change no bit
  /// Called before each pass over the samples with what is done, for a person; false: stop, which throws Interrupted.
  std::function<bool(const std::string& doing)> progress = {};

  bool off() const { return models == std::vector<std::string>{"off"}; }
  bool wants(const std::string& model) const {
    for (const std::string& one : models) {
      if (one == model || one == "auto") return true;
    }
    return false;
  }
};

}  // namespace nudge
