// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace nudge {

/// What to do when the output file exists.
enum class Overwrite { must_not_exist, replace };

/// Checks before a long run that `path` can be written under the policy: its directory exists and takes files, the
/// path is free or (replace) a plain file. Leaves nothing behind. Throws UserError with the reason and what to do.
void check_output_path(const std::filesystem::path& path, Overwrite overwrite);

/// Writes all bytes or nothing: into a hidden file beside `path`, flushed to the disk, then renamed over it. Whoever
/// opens `path` at any moment, also after a kill, sees a complete old or a complete new file. A failure (unwritable
/// directory, full disk, existing file under must_not_exist) is a UserError and leaves no file behind.
void write_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes, Overwrite overwrite);

}  // namespace nudge
