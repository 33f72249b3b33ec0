// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/base/rng.hpp"

namespace nudge {

/// π(i) of a pseudo-random permutation π of {0, …, n − 1} that (key, step) chooses: a pure function in O(1) time and
/// memory, so that an epoch's order needs no state and a resumed run finds its place in it. A balanced Feistel network on
/// the smallest even number of bits that n fits in, 8 rounds (4 make a pseudo-random permutation of pseudo-random
/// functions: Luby and Rackoff, SIAM J. Comput. 17:373, 1988; small domains want more), applied again while the result is
/// not below n (cycle walking: Black and Rogaway, CT-RSA 2002, section 3; at most 4 times on average). Needs i < n ≤ 2³².
std::uint64_t shuffled(std::uint64_t i, std::uint64_t n, const RngKey& key, std::uint64_t step);

}  // namespace nudge
