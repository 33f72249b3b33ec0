// SPDX-License-Identifier: Apache-2.0
#include "sim/base/philox_blocks.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace nudge {
namespace {

// Eight 32-bit words. Their products with a constant are integers, so that both versions give the same bits.
#ifdef __AVX2__
using Lanes = __m256i;
constexpr std::size_t kLanes = 8;
Lanes broadcast(std::uint32_t x) { return _mm256_set1_epi32(static_cast<int>(x)); }
Lanes counted(std::uint32_t x) { return _mm256_add_epi32(broadcast(x), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)); }
Lanes exclusive_or(Lanes a, Lanes b) { return _mm256_xor_si256(a, b); }
void store(Lanes x, std::uint32_t* out) { std::memcpy(out, &x, sizeof x); }
void multiply_wide(Lanes x, Lanes m, Lanes& high, Lanes& low) {
  const Lanes even = _mm256_mul_epu32(x, m);
  const Lanes odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), m);
  low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
  high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
}
#else
constexpr std::size_t kLanes = 8;
using Lanes = std::array<std::uint32_t, kLanes>;
Lanes broadcast(std::uint32_t x) {
  Lanes out;
  out.fill(x);
  return out;
}
Lanes counted(std::uint32_t x) {
  Lanes out;
  for (Lanes::value_type i = 0; i < kLanes; ++i) out[i] = x + i;
  return out;
}
Lanes exclusive_or(const Lanes& a, const Lanes& b) {
  Lanes out;
  for (std::size_t i = 0; i < kLanes; ++i) out[i] = a[i] ^ b[i];
  return out;
}
void store(const Lanes& x, std::uint32_t* out) { std::copy(x.begin(), x.end(), out); }
void multiply_wide(const Lanes& x, const Lanes& m, Lanes& high, Lanes& low) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    const std::uint64_t product = static_cast<std::uint64_t>(x[i]) * m[i];
    high[i] = static_cast<std::uint32_t>(product >> 32);
    low[i] = static_cast<std::uint32_t>(product);
  }
}
#endif

}  // namespace

// Philox4x32-10 as its paper defines it (section 3.3 and table 2): multipliers and Weyl key increments. tests/sim/rng_test.cpp
// holds it against Random123's own.
void draw_blocks(const r123::Philox4x32::key_type& key, std::uint64_t step, std::uint32_t lane, std::uint32_t first,
                 BlockWords& out) {
  const Lanes multiplier0 = broadcast(0xD2511F53);
  const Lanes multiplier1 = broadcast(0xCD9E8D57);
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
  for (std::size_t begin = 0; begin < kBlocks; begin += kLanes) {
    Lanes c0 = counted(first + static_cast<std::uint32_t>(begin));
    Lanes c1 = broadcast(lane);
    Lanes c2 = broadcast(static_cast<std::uint32_t>(step));
    Lanes c3 = broadcast(static_cast<std::uint32_t>(step >> 32));
    std::uint32_t k0 = key.v[0];
    std::uint32_t k1 = key.v[1];
    for (int round = 0; round < 10; ++round, k0 += kWeyl0, k1 += kWeyl1) {
      Lanes high0, low0, high1, low1;
      multiply_wide(c0, multiplier0, high0, low0);
      multiply_wide(c2, multiplier1, high1, low1);
      c0 = exclusive_or(exclusive_or(high1, c1), broadcast(k0));
      c1 = low1;
      c2 = exclusive_or(exclusive_or(high0, c3), broadcast(k1));
      c3 = low0;
    }
    store(c0, out.w[0] + begin);
    store(c1, out.w[1] + begin);
    store(c2, out.w[2] + begin);
    store(c3, out.w[3] + begin);
  }
}

}  // namespace nudge
