// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "sim/io/h5_handle.hpp"

namespace nudge {

// A file may say that its values lie in other files: external links, external raw storage, virtual datasets. Whoever
// reads a stranger's file would then read what lies on his own disk, and pass it on. Such things are refused by name.

/// Property list for following links within the file. At a link into another file HDF5 stops and writes that file's name to
/// `other`, which must outlive the list.
H5Handle links_within_file(std::string& other);

/// Reason why an open dataset must not be read; empty: none. Values may lie in other files, or need a filter that this
/// program lacks (none is loaded from plugins, see H5Session).
std::string unreadable_values(hid_t dataset);

/// Runs `read` in a child process. Throws a UserError that calls the file damaged if the child crashes or does not end. HDF5 1.10
/// follows damaged links and heaps without complaint, into memory that is not its own. H5Reader does this first for files without
/// nudge's seal, foreign or edited ones. An exception of `read` counts as no damage. No other thread of this process may be inside HDF5.
void expect_survivable(const std::filesystem::path& path, const std::function<void()>& read);

}  // namespace nudge
