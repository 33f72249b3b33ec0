// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>

namespace nudge {

/// H5Reader reads files without nudge's seal, foreign or edited ones, in this way first. Runs `read` in a child process and throws a UserError that calls the file damaged when the child crashes there or does not
/// come to an end: HDF5 1.10 follows damaged links and heaps of a file without complaint, into memory that is not its own.
/// An exception of `read` is none of that. Needs that no other thread of this process is inside HDF5.
void expect_survivable(const std::filesystem::path& path, const std::function<void()>& read);

}  // namespace nudge
