// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nudge {

/// Text as a field of a CSV file (RFC 4180): in quotes, with inner ones doubled, when it holds a comma, a semicolon, a quote, a tab or a
/// line break. A spreadsheet would run text that begins with = + - @ (also their full-width forms), a tab or a line break as a
/// formula: it gets an apostrophe in front unless it is a number, as does text that begins with an apostrophe, so that
/// read_csv_record(), which takes one away, reads back what was written. Source: OWASP, "CSV Injection".
std::string csv_field(const std::string& text);

/// The fields of the first record of `rest`, which is taken off it together with its line end: a field that starts with a quote goes to the
/// closing one, whatever is between (RFC 4180); without a closing one the quote is a letter. Blanks around fields fall away, and
/// one apostrophe before text that csv_field() would have put it before.
std::vector<std::string> read_csv_record(std::string_view& rest, char separator = ',');

}  // namespace nudge
