// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

namespace nudge::test {

/// A file of the data folder that lies beside the repository (reference cases, corpora), e.g. "cases/README.md", or, of a
/// reference case, its copy in tests/reference. Empty when it is absent; then a line "SKIPPED: ..." is printed, which makes ctest count the test as skipped, not as passed:
///   const auto path = shared_file("data/tinyshakespeare.txt");
///   if (!path) return;
inline std::optional<std::filesystem::path> shared_file(const std::string& relative) {
  std::filesystem::path path = std::filesystem::path(NUDGE_SHARED_DIR) / relative;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return path;
  if (relative.rfind("cases", 0) == 0) {
    path = std::filesystem::path(NUDGE_SOURCE_DIR) / "tests/reference" / std::filesystem::path(relative).filename();
    if (relative == "cases") path = path.parent_path();
    if (std::filesystem::exists(path, ignored)) return path;
  }
  std::printf("SKIPPED: ../shared/%s is absent\n", relative.c_str());
  return std::nullopt;
}

}  // namespace nudge::test
