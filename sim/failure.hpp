// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nudge {

/// Optional capability of a Direct. It names the part of the system at which the last solution that was not found failed.
class TellsFailure {
 public:
  virtual ~TellsFailure() = default;
  /// Name of that part; empty if every solution was found.
  virtual std::string failure() const = 0;
};

}  // namespace nudge
