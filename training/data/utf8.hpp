// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace nudge {

/// Code points of a UTF-8 text as far as it is well formed (RFC 3629: no overlong forms, no surrogates, at most
/// U+10FFFF), and where that ends.
struct Utf8Text {
  std::vector<char32_t> code_points;
  std::size_t valid_bytes = 0;  ///< the text's size when all of it is valid, else the offset of the first bad sequence
};

Utf8Text decode_utf8(std::string_view bytes);

/// Gives the code points one after the other, without keeping them; returns Utf8Text::valid_bytes.
std::size_t visit_utf8(std::string_view bytes, const std::function<void(char32_t)>& visit);

/// Appends one code point as UTF-8.
void append_utf8(std::string& out, char32_t code_point);

}  // namespace nudge
