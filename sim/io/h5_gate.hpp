// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace nudge
