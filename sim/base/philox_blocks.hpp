// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nudge {

/// Number of generator blocks drawn at a time. Loops of this constant length over separate arrays become vector code, and a
/// number never depends on how many are asked for.
inline constexpr std::size_t kBlocks = 32;

/// Words of kBlocks blocks, by word: w[j][b] is word j of block first + b.
struct BlockWords {
  alignas(64) std::uint32_t w[4][kBlocks];
};

/// Place of kBlocks blocks of Philox4x32-10: counters (first + b, lane, low and high word of step) under a key of two words.
struct BlockPlace {
  std::uint32_t key[2];
  std::uint64_t step;
  std::uint32_t lane, first;
};

/// Functions of the random generator, compiled once per width of vectors (philox_kernel.hpp). All versions give the same bits.
struct PhiloxKernel {
  const char* name;
  /// Fills kBlocks blocks with the numbers that Random123's Philox4x32 gives one counter at a time.
  void (*blocks)(const BlockPlace& place, BlockWords& out);
  /// Writes 4 kBlocks standard normal numbers from kBlocks blocks by Box–Muller: (u, v) uniform gives sqrt(−2 ln u) cos 2πv and
  /// sqrt(−2 ln u) sin 2πv. The order of `out`: cosines of words 0 and 1, cosines of words 2 and 3, then the sines likewise.
  void (*normals)(const BlockPlace& place, float* out);
};

/// Kernels that this processor can run, the widest last.
const std::vector<PhiloxKernel>& philox_kernels();

/// Widest kernel that this processor can run.
const PhiloxKernel& philox_kernel();

/// Kernel for processors with AVX-512 F, DQ, VL and BW; not built if the compiler cannot make code for them.
PhiloxKernel philox_avx512();

}  // namespace nudge
