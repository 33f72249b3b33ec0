// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <istream>
#include <string>

namespace nudge {

/// Limit on the bytes read of one text, table or netlist (counted after inflating), and the reason that its error gives.
struct ReadBound {
  std::size_t bytes = 0;
  std::string reason;  ///< "the most that is read of one file. Take a part of it"
};

/// Default ReadBound: 4 GiB, or a third of the free memory (free_memory()) where that is less; at least 1 MiB.
///
/// 4 GiB: the largest texts and tables used for training here have 1 to 1.5 GB (enwik9; CIFAR-10 as float64). A third: a
/// growing string is held twice for a moment, and the numbers made from it stand beside it.
ReadBound read_bound();

/// Throws UserError "WHAT: has more than N bytes, REASON".
[[noreturn]] void refuse_length(const std::string& what, const ReadBound& bound);

/// Reads all bytes of a stream; every whole file is read this way. `expected` is the size where it is known, 0 where not: it
/// is checked against the bound first, and that much memory is then reserved. UserError (refuse_length) for a stream longer
/// than the bound. A stream that fails gives the bytes before the failure and is bad(). Under Interruptible the read may be left.
std::string read_bounded(std::istream& in, const std::string& what, std::size_t expected = 0,
                         const ReadBound& bound = read_bound());

/// Size of a regular file, for `expected` of read_bounded(); 0 for anything else.
std::size_t expected_bytes(const std::string& path);

}  // namespace nudge
