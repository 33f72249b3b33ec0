// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sim/base/interrupts.hpp"
#include "sim/io/descriptor.hpp"

namespace nudge {

/// Keeps a second writer away from an output for as long as it lives. The lock is a hidden file beside the output (the end of
/// its links), locked with flock(2). It names its holder and is removed with it. If the process was killed, its lock is free,
/// and the next writer removes the file. A file of that name that is not ours stays as it is. It does not name nudge, or is a
/// link, a pipe, a folder.
class OutputLock {
 public:
  /// Takes the lock. UserError if another process writes the output, with the host, process and time of the holder.
  /// UserError also if a file that is not ours is in the lock's place.
  explicit OutputLock(const std::filesystem::path& output);
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;
  ~OutputLock();

 private:
  std::filesystem::path path_;
  Descriptor lock_;
  std::optional<RemovedOnInterrupt> removed_;
};

/// Holder of the lock of an output, as OutputLock says it. Nothing if nobody writes the output, or only a machine whose locks are not
/// seen from here.
std::optional<std::string> output_writer(const std::filesystem::path& output);

}  // namespace nudge
