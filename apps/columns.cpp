// SPDX-License-Identifier: Apache-2.0
#include "apps/columns.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

namespace nudge {
namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::string wrapped_line(const std::string& line, std::size_t columns) {
  if (text_columns(line) <= columns) return line;
  constexpr std::size_t deep = 20;  // what begins there is a second column without its first
  const std::size_t text = line.find_first_not_of(' ');
  std::size_t second = std::string::npos;  // where the last column begins that leaves two fifths of the width
  for (std::size_t gap = line.find("  ", text); gap != std::string::npos;) {
    const std::size_t next = line.find_first_not_of(' ', gap);
    if (next == std::string::npos || text_columns(line.substr(0, next)) > columns * 3 / 5) break;
    second = next;
    gap = line.find("  ", next);
  }
  const bool has_second = second != std::string::npos;
  const std::size_t kept = has_second ? second : text;  // a first column is never broken
  const std::size_t indent = has_second ? text_columns(line.substr(0, second)) : text < deep ? text + 2 : text;
  std::string out, current = line.substr(0, kept);
  std::istringstream rest(line.substr(kept));
  bool empty = true;
  for (std::string word; rest >> word;) {
    if (!empty && text_columns(current) + 1 + text_columns(word) > columns) {
      out += current + "\n";
      current = std::string(indent, ' ');
      empty = true;
    }
    current += (empty ? "" : " ") + word;
    empty = false;
  }
  return out + current;
}

}  // namespace

std::size_t terminal_columns(int descriptor) {
  if (::isatty(descriptor) == 0) return 0;
  winsize size{};
  const bool told = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return told ? size.ws_col : usual_columns;
}

std::size_t text_columns(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string cut_to(const std::string& text, std::size_t columns) {
  if (columns == 0 || text_columns(text) <= columns) return text;
  std::size_t at = 0, shown = 0;
  for (; at < text.size(); ++at) {
    if (begins_character(text[at]) && ++shown == columns) break;
  }
  return text.substr(0, at) + "…";
}

std::string wrapped(const std::string& text, std::size_t columns) {
  if (columns == 0) return text;
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += wrapped_line(text.substr(at, end - at), columns);
    if (end < text.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

}  // namespace nudge
