// SPDX-License-Identifier: Apache-2.0
#include "training/data/shuffle.hpp"

#include "sim/base/errors.hpp"

namespace nudge {

std::uint64_t shuffled(std::uint64_t i, std::uint64_t n, const RngKey& key, std::uint64_t step) {
  NUDGE_EXPECT(i < n && n <= (std::uint64_t{1} << 32));
  unsigned half = 1;  // bits of each half
  while ((std::uint64_t{1} << (2 * half)) < n) ++half;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  constexpr std::uint32_t rounds = 8;
  do {
    std::uint64_t left = i >> half, right = i & mask;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const std::uint64_t mixed = left ^ (random_bits(key, step, round, static_cast<std::uint32_t>(right)) & mask);
      left = right;
      right = mixed;
    }
    i = (left << half) | right;
  } while (i >= n);
  return i;
}

}  // namespace nudge
