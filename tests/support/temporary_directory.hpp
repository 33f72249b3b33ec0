// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iterator>

#include "sim/io/new_file.hpp"

namespace nudge::test {

using nudge::TemporaryDirectory;

/// Number of files in a directory, hidden ones included.
inline auto files_in(const TemporaryDirectory& directory) {
  return std::distance(std::filesystem::directory_iterator(directory.path()), std::filesystem::directory_iterator());
}

}  // namespace nudge::test
