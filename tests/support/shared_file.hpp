// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

namespace nudge::test {

/// A file of the data folder that lies beside the repository (reference cases, corpora), e.g. "cases/README.md". Empty
/// when it is absent; then a line "SKIPPED: ..." is printed, which makes ctest count the test as skipped, not as passed:
///   const auto path = shared_file("data/tinyshakespeare.txt");
///   if (!path) return;
inline std::optional<std::filesystem::path> shared_file(const std::string& relative) {
  const std::filesystem::path path = std::filesystem::path(NUDGE_SHARED_DIR) / relative;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return path;
  std::printf("SKIPPED: ../shared/%s is absent\n", relative.c_str());
  return std::nullopt;
}

}  // namespace nudge::test
