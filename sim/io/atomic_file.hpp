// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace nudge {

/// Treatment of a symbolic link in the place of an output: write to the file at its end, or refuse.
enum class Links { followed, refused };

/// File to write when `path` is the output: the end of its links, whether or not a file is there. The link itself stays. Some folders are
/// open to everybody, such as one for temporary files. A link there is followed only if this user or the folder's owner owns it (the rule
/// of Linux's fs.protected_symlinks). UserError: somebody else's link there, links without an end, and any link under Links::refused.
std::filesystem::path output_target(const std::filesystem::path& path, Links links = Links::followed);

/// Policy for an output file that exists already.
enum class Overwrite { must_not_exist, replace };

/// Checks before a long run that `path` can be written under the policy: its directory exists and takes files, and the
/// path is free. With `replace` it may be a plain file that its owner and this user may write: root obeys the owner too.
/// Leaves nothing behind. Throws UserError with the reason and what to do.
void check_output_path(const std::filesystem::path& path, Overwrite overwrite, Links links = Links::followed);

/// Writes all bytes or nothing: into a hidden file beside the output (new_file.hpp), flushed to the disk, then renamed over it.
/// Whoever opens `path` at any moment, also after a kill, sees a complete old or a complete new file. Links as output_target(). A
/// file that replaces another has its permissions and its owner, as far as this user may give them. A new file has the permissions
/// of the umask. A failure is a UserError and leaves no file behind: unwritable directory, full disk, existing file under
/// must_not_exist, read-only file.
void write_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes, Overwrite overwrite,
                      Links links = Links::followed);

}  // namespace nudge
