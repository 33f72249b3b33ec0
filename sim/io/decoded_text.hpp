// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nudge {

/// Bytes of a text as UTF-8, without a byte order mark. encoding becomes "UTF-16" with a mark or where every other byte is 0,
/// "Latin-1" where the bytes are no UTF-8. Else it stays as it is. UserError "FILE: ..." for a spreadsheet (.xlsx, .xls) and
/// for bytes that are no text.
std::string decoded_text(std::string_view bytes, const std::string& file, std::string& encoding);

}  // namespace nudge
