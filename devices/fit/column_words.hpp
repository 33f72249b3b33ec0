// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "devices/fit/long_table.hpp"
#include "devices/registry.hpp"

namespace nudge {

/// Name as a word: lower case, without blanks and marks of ASCII. Other letters stay: "ΔG" and "√G" are no conductance.
std::string word_of(const std::string& name);

/// Name as a word without a number sign and without "no", "id", "index", ... at its end: "row" of "Row #" and "row_idx".
std::string device_stem(const std::string& name);

/// Place of a name among the words of a column; nothing: it is none of them.
std::optional<std::size_t> rank_of(const std::string& name, const LongColumn& column);

/// True of a start that is written as a resistance: "start_kOhm".
bool may_be_resistance(const LongColumn& column, const std::string& unit);

/// Unit of a column in the line below its name; empty: there is none.
std::string unit_below(const MeasuredText& text, std::size_t c);
/// Unit of a column, in its name or else in the line below.
std::string unit_beside(const MeasuredText& text, std::size_t c);

/// Name of a column that has none, "COL3"; it tells nothing of what the column holds.
std::string place_name(std::size_t c);

/// Direction that a word tells: "up", "LTP", "reset", "D". Some may have a number, "LTP2"; signs and numbers alone are no words.
std::optional<Direction> direction_word(const std::string& cell);

/// 1 of a word for the state that conducts, "LRS", "on"; 0 of one for the other, "HRS", "off".
std::optional<double> state_word(const std::string& cell);

}  // namespace nudge
