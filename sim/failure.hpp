// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nudge {

/// Optional power of a Direct: names the part of the system at which the last failed solution broke down.
class TellsFailure {
 public:
  virtual ~TellsFailure() = default;
  /// Name of that part; empty if every solution was found.
  virtual std::string failure() const = 0;
};

}  // namespace nudge
