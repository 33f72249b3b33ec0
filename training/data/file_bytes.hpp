// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace nudge {

/// All bytes of a regular file; `noun` is what it holds, for messages ("text", "data"). UserError `text file "PATH": …`
/// when it is missing, a directory, not a regular file (a resumed run has to read it again), unreadable, or longer than read_bound().
std::string read_file_bytes(const std::filesystem::path& path, const std::string& noun);

}  // namespace nudge
