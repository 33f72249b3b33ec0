// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nudge {

/// Memory that this process may still take, and what bounds it.
struct FreeMemory {
  double bytes = 0;   ///< infinite where the system does not tell
  std::string where;  ///< "this machine has free", "ulimit -v leaves", "the control group of this process leaves"

  /// "22 GB, which this machine has free": for messages.
  std::string text() const;
};

/// The least of what the machine has free (MemAvailable and SwapFree of Linux), what `ulimit -v` (RLIMIT_AS) leaves beside what is mapped,
/// and what the control groups of the process allow (memory.max of version 2, less memory.current without what is only cached). Asked
/// anew by every call.
FreeMemory free_memory();

/// "1.5 GB", "320 MB", "12 kB": powers of ten, two digits or three.
std::string bytes_text(double bytes);

}  // namespace nudge
