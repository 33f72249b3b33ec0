// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nudge {

/// Memory that this process may still take, and the limit that sets it.
struct FreeMemory {
  double bytes = 0;   ///< infinite where the system does not tell
  std::string where;  ///< "this machine has free", "ulimit -v leaves", "the control group of this process leaves"

  /// Size and limit for messages: "22 GB, which this machine has free".
  std::string text() const;
};

/// Memory that may still be taken, asked anew by every call. It is the least of three:
/// - the free memory of the machine (MemAvailable and SwapFree of Linux);
/// - the rest of `ulimit -v` (RLIMIT_AS) beside the mapped memory;
/// - the rest that the control groups of the process allow (memory.max of version 2, less memory.current without its cached
///   part).
FreeMemory free_memory();

/// Bytes as text in powers of ten, with two or three digits: "1.5 GB", "320 MB", "12 kB".
std::string bytes_text(double bytes);

}  // namespace nudge
