// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace nudge {

/// Two sequences of the Free Transformer's synthetic task (synthetic.hpp) that start from one prompt.
struct SequencePair {
  std::vector<int> first, second;
};

/// What a pair has in common, over many pairs.
struct Agreement {
  double position = 0;  ///< share of pairs with the target at the same place
  double noise = 0;  ///< correlation of the places of '!': (E[ab] − E[a]E[b])/(s_a s_b) over all body places; 0 without
};
Agreement agreement(const std::vector<SequencePair>& pairs);

/// Where the letters are densest: the first place p of 0..56 with most letters in p .. p+7; −1 without any letter.
/// Defined for every sequence, unlike target_position().
int densest_place(const std::vector<int>& sequence);

}  // namespace nudge
