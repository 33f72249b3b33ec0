// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace nudge {

/// A number that something is measured by, as tables, files and JSON name it.
struct Measure {
  std::string name, unit, description;
};

/// A measured number. No value: it was not measured.
struct Measured : Measure {
  std::optional<double> value;
};

}  // namespace nudge
