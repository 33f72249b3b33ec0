// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace nudge {

/// What a symbolic link in the place of an output means: the file that it leads to, or nothing that is written to.
enum class Links { followed, refused };

/// The file that is written when `path` is the output: the end of its links, whether or not a file is there. A link stays a link. In a
/// folder that everybody may write, as one for temporary files, a link is followed if it belongs to this user or to the folder's owner (the rule
/// of Linux's fs.protected_symlinks). UserError: somebody else's link there, links without an end, and any with Links::refused.
std::filesystem::path output_target(const std::filesystem::path& path, Links links = Links::followed);

}  // namespace nudge
