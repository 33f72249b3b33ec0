// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nudge {

/// Optional power of a NetworkPlan: sentences for the user on what its network leaves aside.
class TellsNotes {
 public:
  virtual ~TellsNotes() = default;
  virtual std::vector<std::string> notes() const = 0;
};

}  // namespace nudge
