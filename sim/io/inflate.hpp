// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nudge {

/// Wrapping of deflated bytes (RFC 1951). gzip: a .gz file (RFC 1952) with a checksum, possibly several members one after the
/// other. raw: bare bytes, as in an entry of a zip archive.
enum class Deflated { gzip, raw };

/// Inflated bytes, or the reason why the data is not complete.
struct Inflated {
  std::string bytes;
  std::string problem;    ///< empty when all went well: "is truncated: …", "is damaged near byte …"
  bool too_long = false;  ///< true if the problem is that there are more than `most` bytes
};

/// Decompresses all of `compressed` with zlib; `most` bounds the result (a damaged or hostile size). Beside the result it holds a
/// piece of 512 kB where the data tells its size truly. Throws only for lack of memory; errors in the bytes stand in `problem`.
Inflated inflate_bytes(std::string_view compressed, Deflated wrapping, std::size_t most);

/// The checksum of zip archives over bytes (CRC-32 of IEEE 802.3).
unsigned long zip_checksum(std::string_view bytes);

}  // namespace nudge
