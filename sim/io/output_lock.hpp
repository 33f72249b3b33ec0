// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace nudge {

/// Keeps a second writer away from an output for as long as it lives: a hidden file beside the output, locked with flock(2),
/// which names its holder and goes with it. The lock of a process that was killed is free; its file is taken over.
class OutputLock {
 public:
  /// UserError naming host, process and time of the holder when another process writes the output.
  explicit OutputLock(const std::filesystem::path& output);
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;
  ~OutputLock();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// Who writes the output now, as OutputLock says it; nothing: nobody, or a machine whose locks are not seen from here.
std::optional<std::string> output_writer(const std::filesystem::path& output);

}  // namespace nudge
