// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

namespace nudge::fuzz {

/// For a file of one execution: in memory where there is such a place.
inline std::filesystem::path file_of_process() {
  const std::filesystem::path memory = "/dev/shm";
  const auto folder = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
  return folder / ("nudge_fuzz_" + std::to_string(::getpid()) + ".h5");
}

/// The HDF5 files to be edited: those of tests/fuzz/bases, or of the folder NUDGE_FUZZ_BASES.
inline std::vector<std::filesystem::path> base_paths() {
  const char* chosen = std::getenv("NUDGE_FUZZ_BASES");
  const std::filesystem::path folder = chosen != nullptr ? chosen : NUDGE_FUZZ_BASES;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".h5") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  if (paths.empty()) {
    std::cerr << folder << ": no HDF5 files\n";
    std::exit(2);
  }
  return paths;
}

}  // namespace nudge::fuzz
