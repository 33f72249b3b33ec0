// SPDX-License-Identifier: Apache-2.0
#include "training/models/tapes/bit_source.hpp"

#include "training/models/tapes/device_bits.hpp"

namespace nudge {

const std::vector<std::string>& bit_source_names() {
  static const std::vector<std::string> names = {"pseudo_random", "device"};
  return names;
}

namespace {

constexpr double kGain = 1;              ///< of the devices as they are meant: P = sigmoid(drive)
constexpr std::uint32_t kEntity = 1000;  ///< their random numbers stand apart from the arrays'

/// Devices with their sampler.
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

template std::shared_ptr<BitSampler<float>> make_bit_source<float>(const LatentOptions&, std::uint64_t);
template std::shared_ptr<BitSampler<double>> make_bit_source<double>(const LatentOptions&, std::uint64_t);

}  // namespace nudge
