// SPDX-License-Identifier: Apache-2.0
#include "apps/csv_text.hpp"

namespace nudge {

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

}  // namespace nudge
