// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nudge {

/// Optional capability of a Direct that says, by the names of its own parts, what the last solution that was not found fell over.
class TellsFailure {
 public:
  virtual ~TellsFailure() = default;
  /// Name of that part; empty if every solution was found.
  virtual std::string failure() const = 0;
};

}  // namespace nudge
