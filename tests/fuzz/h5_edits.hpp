// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/fuzz/drawn.hpp"

namespace nudge::fuzz {

/// An HDF5 file of nudge, in memory, and the names of what it holds.
struct H5Base {
  explicit H5Base(const std::filesystem::path& path);

  std::vector<std::byte> bytes;
  std::vector<std::string> objects;                             ///< groups and datasets; the root first
  std::vector<std::pair<std::string, std::string>> attributes;  ///< object and name
};

/// Writes the file with edits drawn until the input is used up: objects and attributes removed, replaced by others of another type,
/// shape and content, linked to one another, single elements and texts changed. A whole HDF5 file with nudge's seal.
void write_edited(const H5Base& base, Drawn& drawn, const std::filesystem::path& path);

}  // namespace nudge::fuzz
