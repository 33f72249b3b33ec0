// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nudge {

/// The optional power of a Direct that says, by the names of its own parts, what the last solution that was not found fell over.
class TellsFailure {
 public:
  virtual ~TellsFailure() = default;
  /// Empty: all were found.
  virtual std::string failure() const = 0;
};

}  // namespace nudge
