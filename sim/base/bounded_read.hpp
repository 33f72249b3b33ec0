// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <istream>
#include <string>

namespace nudge {

/// How many bytes are read of one text, table or netlist, inflated ones included, and why no more.
struct ReadBound {
  std::size_t bytes = 0;
  std::string reason;  ///< "the most that is read of one file: take a part of it"
};

/// 4 GiB, or a third of the memory that is free (free_memory()) where that is less.
///
/// 4 GiB: the largest texts and tables that are trained on here are of 1 to 1.5 GB (enwik9; CIFAR-10 as float64). A third: a string that
/// grows is held twice for a moment, and what is read becomes numbers beside it.
ReadBound read_bound();

/// "WHAT: has more than N bytes, REASON".
[[noreturn]] void refuse_length(const std::string& what, const ReadBound& bound);

/// All bytes of a stream: the one way in which whole files are read. `expected` is the size where it is known (0: it is not), which is
/// refused before anything is taken and is all that is then taken. UserError (refuse_length) for a longer one; a stream that fails
/// gives what came before, and is bad(). Under Stoppable it may be left.
std::string read_bounded(std::istream& in, const std::string& what, std::size_t expected = 0,
                         const ReadBound& bound = read_bound());

/// The size of a regular file, as `expected`; 0 of all else.
std::size_t expected_bytes(const std::string& path);

}  // namespace nudge
