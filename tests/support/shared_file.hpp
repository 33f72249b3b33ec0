// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace nudge::test {

/// Finds a file of the data folder beside the repository (reference cases, corpora), e.g. "cases/README.md", or, of a
/// reference case, its copy in tests/reference. Empty when it is absent; then a line "SKIPPED: ..." is printed, which
/// makes ctest count the test as skipped, not as passed:
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

/// Lists the reference cases whose names begin with `prefix` ("drn_"), in order; empty, with the line of shared_file(),
/// where there are none.
inline std::vector<std::filesystem::path> reference_cases(const std::string& prefix) {
  std::vector<std::filesystem::path> all;
  const auto folder = shared_file("cases");
  if (!folder) return all;
  for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() == ".h5" && path.filename().string().rfind(prefix, 0) == 0) all.push_back(path);
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace nudge::test
