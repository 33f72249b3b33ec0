// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nudge {

/// Text of unknown origin as it may stand on a terminal. Escapes such as "\u001b" replace control characters (C0 but line feed
/// and tab, DEL, C1) and U+FEFF. They also replace characters that turn the direction of text or end its lines: U+061C, U+200E,
/// U+200F, U+2028 to U+202E, U+2066 to U+2069. Bytes that are not UTF-8 become "\xff". A second pass changes nothing, and JSON
/// stays the same JSON.
std::string printable(std::string_view text);

/// Text of unknown origin on one line: as printable(), with "\n" and "\t" for line feeds and tabs too.
std::string printable_line(std::string_view text);

/// Text as a field of a CSV file (RFC 4180). The field is in quotes, with inner ones doubled, if it holds a comma, a semicolon, a quote,
/// a tab or a line break. A spreadsheet would run text that begins with = + - @ (also their full-width forms), a tab or a line break as
/// a formula. Such text gets an apostrophe in front unless it is a number. So does text that begins with an apostrophe:
/// read_csv_record(), which takes one away, reads back what was written. Source: OWASP, "CSV Injection".
std::string csv_field(const std::string& text);

/// Fields of the first record of `rest`, which is taken off it together with its line end. A field that starts with a quote
/// goes to the closing quote, whatever is between (RFC 4180). Without a closing quote the quote is a letter. Blanks around
/// fields fall away, and so does one apostrophe that csv_field() would have put there.
std::vector<std::string> read_csv_record(std::string_view& rest, char separator = ',');

/// A value of nlohmann::json (or ordered_json) as text, on lines indented by `indent`, on one line if it is negative. Bytes that are
/// not UTF-8, as names of files may hold, become U+FFFD, where dump() alone would throw.
template <class Json>
std::string json_text(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace nudge
