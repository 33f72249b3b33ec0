// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nudge {

/// Blocks of the generator drawn at a time, in loops of constant length over separate arrays that become vector code.
/// Constant, so that a number never depends on how many are asked for.
inline constexpr std::size_t kBlocks = 32;

/// The words of kBlocks blocks, by word: w[j][b] is word j of block first + b.
struct BlockWords {
  alignas(64) std::uint32_t w[4][kBlocks];
};

/// Which blocks of Philox4x32-10: counters (first + b, lane, low and high word of step) under a key of two words.
struct BlockPlace {
  std::uint32_t key[2];
  std::uint64_t step;
  std::uint32_t lane, first;
};

/// What is compiled for several widths of vectors (philox_kernel.hpp). All give the same bits.
struct PhiloxKernel {
  const char* name;
  /// The same numbers as Random123's Philox4x32 one counter at a time.
  void (*blocks)(const BlockPlace& place, BlockWords& out);
  /// 4 kBlocks standard normal numbers of kBlocks blocks by Box–Muller: (u, v) uniform gives sqrt(−2 ln u) cos 2πv and
  /// sqrt(−2 ln u) sin 2πv. Of words 0 and 1, then 2 and 3, all cosines; then all sines.
  void (*normals)(const BlockPlace& place, float* out);
};

/// Those that this processor runs, the widest last.
const std::vector<PhiloxKernel>& philox_kernels();

/// The widest of them.
const PhiloxKernel& philox_kernel();

/// For processors with AVX-512 F, DQ, VL and BW; not built elsewhere.
PhiloxKernel philox_avx512();

}  // namespace nudge
