// SPDX-License-Identifier: Apache-2.0
// The body of a PhiloxKernel, for sources that are each compiled for another instruction set. Everything here is local to the source
// that includes it and calls nothing of the standard library: an inline function compiled for AVX-512 must not become the program's.
#pragma once

#include <cstdint>

#include "sim/base/cos_sin_turn.hpp"
#include "sim/base/philox_blocks.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace nudge {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t kLanes = 16;
#else
constexpr std::size_t kLanes = 8;
#endif

/// Words that go through the rounds side by side.
typedef std::uint32_t Lanes __attribute__((vector_size(4 * kLanes)));

/// The upper and the lower half of x · m, lane by lane. Integers: every version gives the same bits.
inline void multiply_wide(Lanes x, std::uint32_t m, Lanes& high, Lanes& low) {
#if defined(__AVX512F__)
  // maskz: gcc 12 warns of the plain intrinsics (GCC bug 105593).
  typedef std::uint64_t Wide __attribute__((vector_size(4 * kLanes)));
  constexpr std::uint64_t kLow = 0xFFFFFFFF;
  const auto words = __builtin_bit_cast(Wide, x);
  const __m512i factor = _mm512_set1_epi64(m);
  const auto even = __builtin_bit_cast(Wide, _mm512_maskz_mul_epu32(0xFF, __builtin_bit_cast(__m512i, words), factor));
  const auto odd =
      __builtin_bit_cast(Wide, _mm512_maskz_mul_epu32(0xFF, __builtin_bit_cast(__m512i, words >> 32), factor));
  low = __builtin_bit_cast(Lanes, (even & kLow) | (odd << 32));
  high = __builtin_bit_cast(Lanes, (even >> 32) | (odd & ~kLow));
#elif defined(__AVX2__)
  const auto words = __builtin_bit_cast(__m256i, x);
  const __m256i factor = _mm256_set1_epi64x(m);
  const __m256i even = _mm256_mul_epu32(words, factor);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(words, 32), factor);
  low = __builtin_bit_cast(Lanes, _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA));
  high = __builtin_bit_cast(Lanes, _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA));
#else
  for (std::size_t i = 0; i < kLanes; ++i) {
    const std::uint64_t product = static_cast<std::uint64_t>(x[i]) * m;
    high[i] = static_cast<std::uint32_t>(product >> 32);
    low[i] = static_cast<std::uint32_t>(product);
  }
#endif
}

/// Philox4x32-10 as its paper defines it (section 3.3 and table 2): multipliers and Weyl key increments. tests/sim/rng_test.cpp
/// holds it against Random123's own.
void draw_blocks(const BlockPlace& place, BlockWords& out) {
  constexpr std::uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57, kWeyl0 = 0x9E3779B9,
                          kWeyl1 = 0xBB67AE85;
  Lanes count;
  for (std::size_t i = 0; i < kLanes; ++i) count[i] = static_cast<std::uint32_t>(i);
  const Lanes zero = {};
  for (std::size_t begin = 0; begin < kBlocks; begin += kLanes) {
    Lanes c0 = count + (place.first + static_cast<std::uint32_t>(begin));
    Lanes c1 = zero + place.lane;
    Lanes c2 = zero + static_cast<std::uint32_t>(place.step);
    Lanes c3 = zero + static_cast<std::uint32_t>(place.step >> 32);
    std::uint32_t k0 = place.key[0];
    std::uint32_t k1 = place.key[1];
    for (int round = 0; round < 10; ++round, k0 += kWeyl0, k1 += kWeyl1) {
      Lanes high0, low0, high1, low1;
      multiply_wide(c0, kMultiplier0, high0, low0);
      multiply_wide(c2, kMultiplier1, high1, low1);
      c0 = high1 ^ c1 ^ k0;
      c1 = low1;
      c2 = high0 ^ c3 ^ k1;
      c3 = low0;
    }
    const Lanes words[4] = {c0, c1, c2, c3};
    for (int j = 0; j < 4; ++j) __builtin_memcpy(out.w[j] + begin, &words[j], sizeof(Lanes));
  }
}

/// A uniform number in (0, 1): the middle of one of 2^23 equal cells, so that its logarithm is finite and the two ends are symmetric.
inline float open_unit(std::uint32_t bits) {
  return (static_cast<float>(static_cast<std::int32_t>(bits >> 9)) + 0.5F) * 0x1p-23F;
}

/// Logarithm ln u of a normal number u: u = m 2^e with m in [√½, √2), and ln m = 2 artanh s = 2 s (1 + s²/3 + s⁴/5 + …), s = (m
/// − 1)/(m + 1). |s| ≤ 3 − √8, so that the first term left out, s^10/11, is below 2e-9 of the sum: a thirtieth of a rounding.
inline float log_unit(float u) {
  constexpr std::int32_t kRootHalf = 0x3F3504F3;  // the bits of √½
  constexpr float kLn2 = 0.69314718055994530942F;
  const auto bits = __builtin_bit_cast(std::int32_t, u);
  const std::int32_t exponent = (bits - kRootHalf) >> 23;
  const float m = __builtin_bit_cast(float, static_cast<std::int32_t>(bits - exponent * (1 << 23)));
  const float s = (m - 1) / (m + 1);
  const float t = s * s;
  const float sum = 1 + t * (1.0F / 3 + t * (1.0F / 5 + t * (1.0F / 7 + t * (1.0F / 9))));
  return static_cast<float>(exponent) * kLn2 + 2 * s * sum;
}

void draw_normals(const BlockPlace& place, float* out) {
  constexpr std::size_t kPairs = 2 * kBlocks;
  BlockWords words;
  draw_blocks(place, words);
  for (int half = 0; half < 2; ++half) {
    const std::uint32_t* radius_bits = words.w[2 * half];
    const std::uint32_t* angle_bits = words.w[2 * half + 1];
    float* cosines = out + static_cast<std::size_t>(half) * kBlocks;
    for (std::size_t b = 0; b < kBlocks; ++b) {
      const float radius = __builtin_sqrtf(-2 * log_unit(open_unit(radius_bits[b])));
      float cosine = 0, sine = 0;
      cos_sin_turn<float>(open_unit(angle_bits[b]), cosine, sine);
      cosines[b] = radius * cosine;
      cosines[kPairs + b] = radius * sine;
    }
  }
}

}  // namespace
}  // namespace nudge
