// SPDX-License-Identifier: Apache-2.0
#include "apps/export/csv_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "sim/base/text.hpp"
#include "sim/io/descriptor.hpp"

namespace nudge {
namespace {

constexpr std::size_t kLongest =
    200;  // file systems take 255 bytes; beside it stand a number, the ending and what a hidden name adds

/// Number of bytes of the first character: those of UTF-8, or one.
std::size_t first_length(std::string_view text) {
  std::size_t n = 1;
  while (n < text.size() && (static_cast<unsigned char>(text[n]) & 0xc0U) == 0x80U) ++n;
  return printable_line(text.substr(0, n)) == text.substr(0, n) ? n : 1;
}

std::string safe_name(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const std::string_view one = path.substr(0, first_length(path));
    const bool plain = printable_line(one) == one && one != "\\" && one != "%" && !(one == "." && out.empty());
    if (plain)
      out += one == "/" ? "." : one;
    else
      for (const char c : one) out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    path.remove_prefix(one.size());
  }
  if (out.size() <= kLongest) return out;
  std::size_t end = kLongest - 17;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0U) == 0x80U) --end;
  return fmt::format("{}~{:016x}", out.substr(0, end), fnv_1a(std::as_bytes(std::span(out))));
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return text;
}

}  // namespace

std::string FileNames::take(const std::string& path, const std::string& ending) {
  const std::string name = safe_name(path);
  std::string out = name + ending;
  for (int n = 2; !taken_.insert(lower(out)).second; ++n) out = fmt::format("{}~{}{}", name, n, ending);
  return out;
}

}  // namespace nudge
