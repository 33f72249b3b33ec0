// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "devices/stochastic_bit.hpp"
#include "mixers/bit_sampler.hpp"
#include "sim/base/matrix.hpp"
#include "training/models/tapes/tape_kinds.hpp"

namespace nudge {

/// Latent bits drawn by stochastic binary devices. Device h makes bit h of one token after the other; sequences run on
/// devices of the same kind side by side (lanes). A training step goes on where the last one stopped. The drive is
/// logit/gain with the nominal gain of the devices. Ideal devices then draw 1 with probability sigmoid(logit); real
/// ones draw 1 with
///     P_h(1) = sigmoid((gain_h/gain) logit − gain_h offset_h)
/// with correlation ρ from token to token. The mapper's straight-through gradient stays the gradient of ideal bits.
template <class S>
class DeviceBits final : public BitSampler<S> {
 public:
  /// Makes the sampler, one device per bit of the logits, of nominal gain `gain`; the devices must outlive it. `step`
  /// is the training step, `sequence` the sequence in its batch: a draw is a pure function of them.
  DeviceBits(const StochasticBits& devices, double gain, std::uint64_t step, std::uint32_t sequence)
      : devices_(&devices), gain_(gain), step_(step), sequence_(sequence) {}

  void draw(const Matrix<S>& logits, std::vector<std::uint8_t>& bits) override;
  void select(std::uint64_t step, std::uint32_t sequence) override {
    step_ = step;
    sequence_ = sequence;
  }

 private:
  const StochasticBits* devices_;
  double gain_;
  std::uint64_t step_;
  std::uint32_t sequence_;
};

/// Names that latent.sampler may take.
const std::vector<std::string>& bit_source_names();

/// Makes the source of latent bits that latent.sampler names. One per tape: a source may have a state.
template <class S>
std::shared_ptr<BitSampler<S>> make_bit_source(const LatentOptions& options, std::uint64_t seed);

/// Pair of sequences of the Free Transformer's synthetic task (synthetic.hpp) that start from one prompt.
struct SequencePair {
  std::vector<int> first, second;
};

/// Agreement of pairs of sequences. Correlations: (E[ab] − E[a]E[b])/(s_a s_b), 0 where a deviation is 0.
struct PairAgreement {
  double place = 0;  ///< correlation of the densest places; by chance 0
  /// Mean |difference| of the densest places; by chance (57² − 1)/(3·57) = 18.99. Pairs without a densest place count
  /// in neither `place` nor `distance`.
  double distance = 0;
  double noise = 0;  ///< correlation of '!' at the same character, over all body characters; by chance 0
};
PairAgreement agreement(const std::vector<SequencePair>& pairs);

/// Place of the densest letters: the first place p of 0..56 with most letters in p .. p+7; −1 without any letter.
/// Defined for every sequence, unlike target_position().
int densest_place(const std::vector<int>& sequence);

/// Information that Z carries about a sequence: how much less the decoder spends on its body than the best decoder
/// without a latent. The chain rule splits it: noise or not, then which character. At most all that the sequence has,
/// on average
///     noise: 64 H_b(1/16) = 21.59 bit,   place: log2 57 = 5.83 bit
/// (0.008 bit less where noise at both edges hides the place). Negative for a decoder that predicts worse than the one
/// without a latent.
struct ToldBits {
  double place = 0;  ///< log2 57 − Σ over t that are not noise of −log2 P(token t | not noise)
  double noise = 0;  ///< Σ over all t of log2 P/P°; P: probability of what t is, noise or not, P°: its 1/16 or 15/16
};
/// Computes the told bits; row t of the logits, (tokens, 29), predicts token t + 1.
template <class S>
ToldBits told_bits(const Matrix<S>& logits, const std::vector<int>& sequence);

}  // namespace nudge
