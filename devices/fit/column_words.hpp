// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "devices/fit/long_table.hpp"

namespace nudge {

/// Name as a word: lower case, without blanks and marks.
std::string word_of(const std::string& name);

/// Place of a name among the words of a column; nothing: it is none of them.
std::optional<std::size_t> rank_of(const std::string& name, const LongColumn& column);

}  // namespace nudge
