// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

namespace nudge::test {

/// The documents, the dated tables of results/, and the configs of examples/ with their comments.
inline std::vector<std::filesystem::path> documents() {
  namespace fs = std::filesystem;
  const fs::path root = NUDGE_SOURCE_DIR;
  std::vector<fs::path> found = {root / "README.md", root / "CONTRIBUTING.md"};
  const auto add = [&found](const fs::directory_entry& entry) {
    const auto extension = entry.path().extension();
    if (extension == ".md" || extension == ".toml") found.push_back(entry.path());
  };
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs")) add(entry);
  for (const char* folder : {"examples", "results"}) {
    for (const auto& entry : fs::directory_iterator(root / folder)) add(entry);
  }
  return found;
}

}  // namespace nudge::test
