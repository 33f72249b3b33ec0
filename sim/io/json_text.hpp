// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nudge {

/// A value of nlohmann::json (or ordered_json) as text, on lines indented by `indent`, on one line if it is negative. Bytes that are
/// not UTF-8, as names of files may hold, become U+FFFD, where dump() alone would throw.
template <class Json>
std::string json_text(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace nudge
