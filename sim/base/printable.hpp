// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nudge {

/// Text of unknown origin as it may stand on a terminal: control characters (C0 but line feed and tab, DEL, C1), characters that
/// turn the direction of text or end its lines (U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069) and U+FEFF become
/// "\u001b", bytes that are not UTF-8 "\xff". What comes out goes through unchanged, and JSON stays the same JSON.
std::string printable(std::string_view text);

/// The same on one line: "\n" and "\t" for line feeds and tabs too.
std::string printable_line(std::string_view text);

}  // namespace nudge
