// SPDX-License-Identifier: Apache-2.0
#include "sim/io/decoded_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/locale/encoding_utf.hpp>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

[[noreturn]] void no_text(const std::string& file, const std::string& what) { throw UserError(file + ": " + what); }

/// UTF-16 of one byte order as UTF-8.
std::string of_utf16(std::string_view bytes, bool big_endian) {
  std::u16string units;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    const auto first = static_cast<unsigned char>(bytes[i]), second = static_cast<unsigned char>(bytes[i + 1]);
    units += static_cast<char16_t>(big_endian ? first << 8 | second : second << 8 | first);
  }
  return boost::locale::conv::utf_to_utf<char>(units);
}

bool is_utf8(std::string_view bytes) {
  try {
    boost::locale::conv::utf_to_utf<char32_t>(bytes.data(), bytes.data() + bytes.size(), boost::locale::conv::stop);
    return true;
  } catch (const boost::locale::conv::conversion_error&) {
    return false;
  }
}

std::string of_latin1(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x80) {
      out += c;
    } else {
      out += static_cast<char>(0xC0 | code >> 6);
      out += static_cast<char>(0x80 | (code & 0x3F));
    }
  }
  return out;
}

/// Share of the bytes at even or odd places that are 0, which tells UTF-16 without a mark.
double zeros(std::string_view bytes, std::size_t from) {
  std::size_t zero = 0, all = 0;
  for (std::size_t i = from; i < std::min<std::size_t>(bytes.size(), 4096); i += 2, ++all) zero += bytes[i] == 0;
  return all == 0 ? 0 : static_cast<double>(zero) / static_cast<double>(all);
}

}  // namespace

std::string decoded_text(std::string_view bytes, const std::string& file, std::string& encoding) {
  using namespace std::string_view_literals;
  constexpr const char* save = "save the sheet as CSV (UTF-8) and read that";
  if (bytes.starts_with("PK\x03\x04"sv)) no_text(file, fmt::format("is an Excel workbook or zip archive: {}", save));
  if (bytes.starts_with("\xD0\xCF\x11\xE0"sv)) no_text(file, fmt::format("is an old Excel workbook (.xls): {}", save));
  if (bytes.starts_with("\xEF\xBB\xBF"sv)) bytes.remove_prefix(3);
  const bool little = bytes.starts_with("\xFF\xFE"sv), big = bytes.starts_with("\xFE\xFF"sv);
  const bool guessed_little = zeros(bytes, 1) > 0.4, guessed_big = zeros(bytes, 0) > 0.4;
  if (little || big || guessed_little != guessed_big) {
    encoding = "UTF-16";
    return of_utf16(bytes.substr(little || big ? 2 : 0), big || (!little && guessed_big));
  }
  if (bytes.find('\0') != std::string_view::npos) no_text(file, "is not a text (it has NUL bytes)");
  if (is_utf8(bytes)) return std::string(bytes);
  encoding = "Latin-1";
  return of_latin1(bytes);
}

}  // namespace nudge
