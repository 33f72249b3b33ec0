// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "devices/stochastic_bit.hpp"
#include "mixers/bit_sampler.hpp"

namespace nudge {

/// Latent bits drawn by stochastic binary devices: device h makes bit h of one token after the other, sequences run on
/// devices of the same kind side by side (lanes), and a training step goes on where the last one stopped. The drive is
/// logit/gain with the gain that the devices are meant to have, so that ideal ones draw 1 with probability
/// sigmoid(logit); real ones draw
///     P_h(1) = sigmoid((gain_h/gain) logit − gain_h offset_h)
/// with correlation ρ from token to token. The mapper's straight-through gradient stays that of ideal bits.
template <class S>
class DeviceBits final : public BitSampler<S> {
 public:
  /// One device per bit of the logits, of nominal gain `gain`; the devices must outlive the sampler. `step` is that of the
  /// training, `sequence` the sequence in its batch: a draw is a pure function of them.
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

}  // namespace nudge
