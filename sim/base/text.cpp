// SPDX-License-Identifier: Apache-2.0
#include "sim/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/locale/utf.hpp>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

namespace nudge {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  ///< 0: no UTF-8
};

/// The first character of a text that is not empty (RFC 3629: no overlong forms, no surrogates).
Character first_of(std::string_view text) {
  namespace utf = boost::locale::utf;
  auto end = text.begin();
  const utf::code_point code = utf::utf_traits<char>::decode(end, text.end());
  if (code == utf::illegal || code == utf::incomplete) return {};
  return {code, static_cast<std::size_t>(end - text.begin())};
}

bool is_harmful(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

template <class Kept>
std::string escaped(std::string_view text, const Kept& kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = first_of(text);
    if (c.bytes == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (is_harmful(c.code) && !kept(c.code)) {
      out += c.code == '\n' ? "\\n" : c.code == '\t' ? "\\t" : fmt::format("\\u{:04x}", c.code);
    } else {
      out += text.substr(0, c.bytes);
    }
    text.remove_prefix(c.bytes == 0 ? 1 : c.bytes);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) {
  return escaped(text, [](std::uint32_t code) { return code == '\n' || code == '\t'; });
}

std::string printable_line(std::string_view text) {
  return escaped(text, [](std::uint32_t) { return false; });
}

namespace {

bool is_plain_number(std::string_view text) {
  double value = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec != std::errc::invalid_argument && read.ptr == text.data() + text.size();
}

/// True if a spreadsheet may run the text as a formula.
bool is_formula(std::string_view text) {
  constexpr std::array<std::string_view, 11> first = {"=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"};
  return std::any_of(first.begin(), first.end(), [&](std::string_view f) { return text.starts_with(f); }) &&
         !is_plain_number(text);
}

bool needs_apostrophe(std::string_view text) { return text.starts_with('\'') || is_formula(text); }

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The text between quotes at the start of `rest`, which is taken off with them; nothing where no quote closes it.
std::optional<std::string> quoted(std::string_view& rest) {
  if (!rest.starts_with('"')) return std::nullopt;
  std::string out;
  for (std::size_t at = 1; at < rest.size(); ++at) {
    if (rest[at] == '"' && rest.substr(at + 1).starts_with('"'))
      ++at;  // doubled: one of the text
    else if (rest[at] == '"') {
      rest.remove_prefix(at + 1);
      return out;
    }
    out += rest[at];
  }
  return std::nullopt;
}

std::string take_field(std::string_view& rest, char separator) {
  const char ends[] = {separator, '\n', '\0'};
  std::string_view ahead = rest.substr(std::min(rest.find_first_not_of(separator == '\t' ? " " : " \t"), rest.size()));
  std::string out;
  if (auto text = quoted(ahead)) {
    out = std::move(*text);
    rest = ahead;
  }
  const std::size_t end = std::min(rest.find_first_of(ends), rest.size());
  out += without_blanks(rest.substr(0, end));
  rest.remove_prefix(end);
  if (out.starts_with('\'') && needs_apostrophe(std::string_view(out).substr(1))) out.erase(0, 1);
  return out;
}

}  // namespace

std::string csv_field(const std::string& text) {
  const std::string cell = needs_apostrophe(text) ? "'" + text : text;
  if (cell.find_first_of(",;\"\t\n\r") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::vector<std::string> read_csv_record(std::string_view& rest, char separator) {
  std::vector<std::string> out;
  while (true) {
    out.push_back(take_field(rest, separator));
    const bool more = rest.starts_with(separator);
    if (!rest.empty()) rest.remove_prefix(1);
    if (!more) return out;
  }
}

}  // namespace nudge
