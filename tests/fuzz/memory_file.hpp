// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "sim/io/h5_reader.hpp"
#include "tests/fuzz/drawn.hpp"

namespace nudge::fuzz {

/// What an HDF5 file says, without HDF5. memory_reader.cpp is an H5Reader of such files: a hundred times as fast.
struct MemoryFile {
  struct Other {};  ///< a type or shape that nudge never writes
  using Attribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, Other>;
  using Values = std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::string>>;
  struct Object {
    bool group = true;
    std::map<std::string, Attribute> attributes = {};
    H5Type type = H5Type::real64;  ///< of a dataset, as those below; `other` has no values
    H5Shape shape = {};
    Values values = {};
    std::vector<std::string> dimensions = {};
  };

  /// By path, "/" and "/group/name". A copy of a file shares its objects, which an edit replaces.
  std::map<std::string, std::shared_ptr<const Object>> objects;
};

/// What the file at the path says, read by HDF5.
MemoryFile load_memory_file(const std::filesystem::path& path);

/// Edits drawn until the input is used up: objects and attributes removed, put elsewhere, or replaced by others of another type,
/// shape and content; single elements and texts changed.
void edit(MemoryFile& file, Drawn& drawn);

/// The files that an H5Reader finds, by the path it is given.
std::map<std::string, const MemoryFile*>& memory_files();

}  // namespace nudge::fuzz
