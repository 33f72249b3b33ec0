// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sim/base/interrupts.hpp"
#include "sim/io/descriptor.hpp"

namespace nudge {

/// Keeps a second writer away from an output for as long as it lives: a hidden file beside the output (the end of its links),
/// locked with flock(2), which names its holder and goes with it. The lock of a process that was killed is free; its file is
/// removed. A file of that name that is none of ours (it does not say so, or is a link, a pipe, a folder) stays as it is.
class OutputLock {
 public:
  /// Takes the lock. UserError if another process writes the output (naming host, process and time of the holder), or if a
  /// file that is not ours is in the lock's place.
  explicit OutputLock(const std::filesystem::path& output);
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;
  ~OutputLock();

 private:
  std::filesystem::path path_;
  Descriptor lock_;
  std::optional<RemovedOnInterrupt> removed_;
};

/// Holder of the lock of an output, as OutputLock says it; nothing if nobody writes it, or a machine whose locks are not seen from here.
std::optional<std::string> output_writer(const std::filesystem::path& output);

}  // namespace nudge
