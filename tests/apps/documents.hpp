// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

namespace nudge::test {

/// The documents, and the configs of examples/ with their comments.
inline std::vector<std::filesystem::path> documents() {
  const std::filesystem::path root = NUDGE_SOURCE_DIR;
  std::vector<std::filesystem::path> found = {root / "README.md", root / "CONTRIBUTING.md"};
  for (const char* folder : {"docs", "examples"}) {
    for (const auto& entry : std::filesystem::directory_iterator(root / folder)) {
      const auto extension = entry.path().extension();
      if (extension == ".md" || extension == ".toml") found.push_back(entry.path());
    }
  }
  return found;
}

}  // namespace nudge::test
