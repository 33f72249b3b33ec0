// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Sizes of a dataset, slowest index first; empty for a scalar. In an expected shape, -1 stands for any size.
using H5Shape = std::vector<Index>;

/// Value of an attribute.
using H5Attribute = std::variant<std::int64_t, double, std::string>;

/// What the elements of a dataset are: float32, float64, an integer of up to 64 bits, text, or something nudge never writes.
enum class H5Type { real32, real64, integer, text, other };

/// What a reader needs to understand a dataset: unit ("1" for a pure number), one sentence, and a name per dimension.
struct H5Meaning {
  std::string unit = "1";
  std::string description;
  std::vector<std::string> dimensions;
};

/// "(12, 40)", "(5,)" or "()" as Python writes it; -1 prints as "any".
std::string to_string(const H5Shape& shape);

/// "float32", "float64", "integer", "text" or "other".
std::string_view to_string(H5Type type);

}  // namespace nudge
