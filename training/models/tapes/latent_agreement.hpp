// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Two sequences of the Free Transformer's synthetic task (synthetic.hpp) that start from one prompt.
struct SequencePair {
  std::vector<int> first, second;
};

/// What pairs have in common. Correlations: (E[ab] − E[a]E[b])/(s_a s_b), 0 where a deviation is 0.
struct Agreement {
  double place = 0;  ///< correlation of the densest places; by chance 0
  double distance =
      0;  ///< their mean |difference|; by chance (57² − 1)/(3·57) = 18.99. Both without pairs that lack one
  double noise = 0;  ///< correlation of '!' at the same character, over all body characters; by chance 0
};
Agreement agreement(const std::vector<SequencePair>& pairs);

/// Where the letters are densest: the first place p of 0..56 with most letters in p .. p+7; −1 without any letter.
/// Defined for every sequence, unlike target_position().
int densest_place(const std::vector<int>& sequence);

/// What Z tells of a sequence: how much less the decoder spends on its body than the best decoder without a latent, by
/// the chain rule: noise or not, then which character. At most all that the sequence has, on average
///     noise: 64 H_b(1/16) = 21.59 bit,   place: log2 57 = 5.83 bit
/// (0.008 bit less where noise at both edges hides the place). Negative for a decoder that predicts worse than that one.
struct ToldBits {
  double place = 0;  ///< log2 57 − Σ over t that are not noise of −log2 P(token t | not noise)
  double noise = 0;  ///< Σ over all t of log2 P/P°, P of what t is, noise or not, and P° its 1/16 or 15/16
};
/// Row t of the logits, (tokens, 29), predicts token t + 1.
template <class S>
ToldBits told_bits(const Matrix<S>& logits, const std::vector<int>& sequence);

}  // namespace nudge
