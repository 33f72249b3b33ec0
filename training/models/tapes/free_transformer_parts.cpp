// SPDX-License-Identifier: Apache-2.0
#include "training/models/tapes/free_transformer_parts.hpp"

#include <cmath>

#include "mixers/free_transformer/synthetic.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
void DeviceBits<S>::draw(const Matrix<S>& logits, std::vector<std::uint8_t>& bits) {
  NUDGE_EXPECT(logits.cols() == devices_->devices());
  bits.clear();
  const std::uint64_t first = step_ * static_cast<std::uint64_t>(logits.rows());
  for (Index t = 0; t < logits.rows(); ++t) {
    for (Index h = 0; h < logits.cols(); ++h) {
      const double drive = static_cast<double>(logits(t, h)) / gain_;
      const bool one = devices_->sample(h, drive, first + static_cast<std::uint64_t>(t), sequence_);
      bits.push_back(one ? 1 : 0);
    }
  }
}

const std::vector<std::string>& bit_source_names() {
  static const std::vector<std::string> names = {"pseudo_random", "device"};
  return names;
}

namespace {

constexpr double kGain = 1;              ///< gain of the devices as designed: P = sigmoid(drive)
constexpr std::uint32_t kEntity = 1000;  ///< entity of their random numbers, apart from those of the arrays

/// Sampler that holds its devices.
template <class S>
class OwnedDevices final : public BitSampler<S> {
 public:
  OwnedDevices(const StochasticBitSpec& spec, Index bits, std::uint64_t seed)
      : devices_(spec, bits, {seed, kEntity, 0}), sampler_(devices_, kGain, 0, 0) {}
  void draw(const Matrix<S>& logits, std::vector<std::uint8_t>& bits) override { sampler_.draw(logits, bits); }
  void select(std::uint64_t step, std::uint32_t sequence) override { sampler_.select(step, sequence); }

 private:
  StochasticBits devices_;
  DeviceBits<S> sampler_;
};

}  // namespace

template <class S>
std::shared_ptr<BitSampler<S>> make_bit_source(const LatentOptions& options, std::uint64_t seed) {
  if (options.sampler == "pseudo_random") return std::make_shared<PseudoRandomBits<S>>(seed, 0, 0);
  StochasticBitSpec spec;
  spec.gain = kGain;
  spec.offset = options.bit_offset;
  spec.gain_spread = options.bit_gain_spread;
  spec.offset_spread = options.bit_offset_spread;
  spec.correlation = options.bit_correlation;
  return std::make_shared<OwnedDevices<S>>(spec, options.bits, seed);
}

int densest_place(const std::vector<int>& sequence) {
  const auto is_letter = [&](int place) {
    return sequence[SyntheticText::prompt + static_cast<std::size_t>(place)] < SyntheticText::blank;
  };
  int best = 0;
  int best_place = -1;
  for (int place = 0; place + SyntheticText::target <= SyntheticText::body; ++place) {
    int letters = 0;
    for (int t = place; t < place + SyntheticText::target; ++t) letters += is_letter(t) ? 1 : 0;
    if (letters <= best) continue;
    best = letters;
    best_place = place;
  }
  return best_place;
}

namespace {

/// Moments of pairs of numbers.
struct Joint {
  double n = 0, a = 0, b = 0, aa = 0, bb = 0, ab = 0;
  void add(double x, double y) {
    n += 1;
    a += x;
    b += y;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  double correlation() const {
    const double variance = (n * aa - a * a) * (n * bb - b * b);
    return variance > 0 ? (n * ab - a * b) / std::sqrt(variance) : 0;
  }
};

}  // namespace

PairAgreement agreement(const std::vector<SequencePair>& pairs) {
  Joint place, noise;
  double distance = 0;
  for (const SequencePair& pair : pairs) {
    const int first = densest_place(pair.first);
    const int second = densest_place(pair.second);
    if (first >= 0 && second >= 0) {
      place.add(first, second);
      distance += std::abs(first - second);
    }
    for (std::size_t t = SyntheticText::prompt; t < pair.first.size(); ++t) {
      noise.add(pair.first[t] == SyntheticText::noise ? 1 : 0, pair.second[t] == SyntheticText::noise ? 1 : 0);
    }
  }
  return {place.correlation(), distance / place.n, noise.correlation()};
}

template <class S>
ToldBits told_bits(const Matrix<S>& logits, const std::vector<int>& sequence) {
  ToldBits told;
  told.place = std::log2(SyntheticText::body - SyntheticText::target + 1);
  for (std::size_t t = SyntheticText::prompt; t < sequence.size(); ++t) {
    const Matrix<double> row = logits.row(static_cast<Index>(t) - 1).template cast<double>();
    const double top = row.maxCoeff();
    const double noise = std::exp(row(0, SyntheticText::noise) - top);
    double others = 0;
    for (Index c = 0; c < row.cols(); ++c) others += c == SyntheticText::noise ? 0 : std::exp(row(0, c) - top);
    const bool is_noise = sequence[t] == SyntheticText::noise;
    const double share = is_noise ? noise / SyntheticText::noise_rate : others / (1 - SyntheticText::noise_rate);
    told.noise += std::log2(share / (noise + others));
    if (!is_noise) told.place += std::log2(std::exp(row(0, sequence[t]) - top) / others);
  }
  return told;
}

#define NUDGE_FREE_TRANSFORMER_PARTS(S)                                                            \
  template class DeviceBits<S>;                                                                    \
  template std::shared_ptr<BitSampler<S>> make_bit_source<S>(const LatentOptions&, std::uint64_t); \
  template ToldBits told_bits(const Matrix<S>&, const std::vector<int>&);
NUDGE_BOTH_PRECISIONS(NUDGE_FREE_TRANSFORMER_PARTS)

}  // namespace nudge
