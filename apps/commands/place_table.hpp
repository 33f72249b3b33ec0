// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "apps/commands/conductance_file.hpp"

namespace nudge {

/// What the numbers of an array are.
struct ArrayKind {
  const char *noun, *one;  ///< in messages: "conductances"; the column of a table of places
  LongColumn column;
  bool negative = false;  ///< numbers may be negative, and have no unit
};

/// True of a table of places and values, which has names for both.
bool is_place_table(const MeasuredText& text);

/// Refuses conductances without a unit that are hardly microsiemens: 1 nS is 0.1 nA at 0.1 V, what arrays are read with.
void refuse_tiny(const ArrayFile& file, const std::string& siemens);

/// Reads a table of places and values.
void read_place_table(const std::string& bytes, const std::string& path, const ArrayKind& kind, ArrayFile& out);

}  // namespace nudge
