// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "sim/io/h5_handle.hpp"

namespace nudge {

// A file may say that its values lie in other files: external links, external raw storage, virtual datasets. Whoever
// reads a stranger's file would then read what lies on his own disk, and pass it on. Such things are refused by name.

/// A property list for following links within the file: at one into another file HDF5 stops, and its name is in `other`, which
/// must outlive the list.
H5Handle links_within_file(std::string& other);

/// What keeps an open dataset from being read: values in other files, or a filter that this program does not have (none is loaded
/// from plugins, see H5Session). Empty: nothing.
std::string unreadable_values(hid_t dataset);

/// H5Reader reads files without nudge's seal, foreign or edited ones, in this way first. Runs `read` in a child process and throws a UserError that calls the file damaged when the child crashes there or does not
/// come to an end: HDF5 1.10 follows damaged links and heaps of a file without complaint, into memory that is not its own.
/// An exception of `read` is none of that. Needs that no other thread of this process is inside HDF5.
void expect_survivable(const std::filesystem::path& path, const std::function<void()>& read);

}  // namespace nudge
