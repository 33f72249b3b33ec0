// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Random123/philox.h>

#include <cstddef>
#include <cstdint>

namespace nudge {

/// Blocks of the generator drawn at a time by fill_normal, in loops of constant length over separate arrays that become
/// vector code. Constant, so that a number never depends on how many are asked for.
inline constexpr std::size_t kBlocks = 32;

/// The words of kBlocks blocks, by word: words[w][b] is word w of block first + b.
struct BlockWords {
  alignas(64) std::uint32_t w[4][kBlocks];
};

/// Philox4x32-10 with counters (first + b, lane, low and high word of step), the same numbers as Random123's Philox4x32
/// one counter at a time, eight at a time.
void draw_blocks(const r123::Philox4x32::key_type& key, std::uint64_t step, std::uint32_t lane, std::uint32_t first,
                 BlockWords& out);

}  // namespace nudge
