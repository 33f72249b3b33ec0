// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nudge {

/// Line and column of a text, from 1; 0 when there is none (--set).
struct TextPosition {
  unsigned line = 0;
  unsigned column = 0;
};

/// Value as written, before its kind is known.
struct RawValue {
  enum class Kind { integer, real, flag, text, list, table, other };
  Kind kind = Kind::other;
  std::int64_t integer = 0;
  double real = 0;
  bool flag = false;
  std::string text = {};  ///< the text, or how a value of kind `other` (a date) was written
  std::vector<RawValue> list = {};
  TextPosition at = {};
};

/// Value as a message shows it: 3, "25 us", [1, 2], a table.
std::string show(const RawValue& value);

/// One `key = value` of a file with its dotted key; an empty table is an entry of kind `table`.
struct RawEntry {
  std::string key;
  TextPosition at;
  RawValue value;
};

/// The entries in the order of the text. A syntax error is a UserError that starts with name:line:column.
std::vector<RawEntry> read_toml(const std::string& text, const std::string& name);

/// The text inside a TOML string with its quotes ("a\tb" or 'a'); empty when it is not one.
std::optional<std::string> read_toml_string(std::string_view quoted);

/// text as a TOML string, with quotes.
std::string quoted(std::string_view text);

}  // namespace nudge
