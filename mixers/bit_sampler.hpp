// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/matrix.hpp"
#include "sim/base/rng.hpp"

namespace nudge {

/// Source of latent bits. The Free Transformer asks for bits that are 1 with probability sigmoid(logit). A source may draw
/// them with other probabilities: simulated hardware has bias, gain spread and correlations.
template <class S>
class BitSampler {
 public:
  virtual ~BitSampler() = default;

  /// Draws one bit per logit, row-major; logits (tokens, bits).
  virtual void draw(const Matrix<S>& logits, std::vector<std::uint8_t>& bits) = 0;

  /// Chooses the random numbers of later draws, which are then a pure function of step and sequence. A tape that is run again
  /// needs other numbers for each example. A source with numbers of its own ignores the call.
  virtual void select(std::uint64_t /*step*/, std::uint32_t /*sequence*/) {}
};

/// Bits from given uniform numbers u of the logits' shape: bit = u < sigmoid(logit).
template <class S>
class GivenUniforms final : public BitSampler<S> {
 public:
  explicit GivenUniforms(Matrix<S> u) : u_(std::move(u)) {}
  void draw(const Matrix<S>& logits, std::vector<std::uint8_t>& bits) override;

 private:
  Matrix<S> u_;
};

/// Independent pseudo-random bits; a pure function of seed, step and sequence.
template <class S>
class PseudoRandomBits final : public BitSampler<S> {
 public:
  PseudoRandomBits(std::uint64_t seed, std::uint64_t step, std::uint32_t sequence)
      : seed_(seed), step_(step), sequence_(sequence) {}
  void draw(const Matrix<S>& logits, std::vector<std::uint8_t>& bits) override;
  void select(std::uint64_t step, std::uint32_t sequence) override {
    step_ = step;
    sequence_ = sequence;
  }

 private:
  std::uint64_t seed_, step_;
  std::uint32_t sequence_;
};

}  // namespace nudge
