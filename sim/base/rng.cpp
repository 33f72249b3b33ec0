// SPDX-License-Identifier: Apache-2.0
#include "sim/base/rng.hpp"

#include <Random123/philox.h>
#include <Random123/threefry.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <type_traits>

#include "sim/base/errors.hpp"
#include "sim/base/philox_blocks.hpp"

namespace nudge {
namespace {

using Words = std::array<std::uint32_t, 4>;

/// The 64-bit Philox key of a stream: Threefry of (seed, purpose, entity), so that near seeds give unrelated streams.
r123::Philox4x32::key_type stream_key(const RngKey& key) {
  r123::Threefry2x64 mix;
  r123::Threefry2x64::ctr_type counter;
  counter.v[0] = key.seed;
  counter.v[1] = 0;
  r123::Threefry2x64::key_type stream;
  stream.v[0] = static_cast<std::uint64_t>(key.purpose);
  stream.v[1] = key.entity;
  const auto k = mix(counter, stream);
  r123::Philox4x32::key_type words;
  words.v[0] = static_cast<std::uint32_t>(k.v[0]);
  words.v[1] = static_cast<std::uint32_t>(k.v[0] >> 32);
  return words;
}

Words block(const r123::Philox4x32::key_type& key, std::uint64_t step, std::uint32_t lane, std::uint32_t index) {
  r123::Philox4x32 philox;
  r123::Philox4x32::ctr_type counter;
  counter.v[0] = index;
  counter.v[1] = lane;
  counter.v[2] = static_cast<std::uint32_t>(step);
  counter.v[3] = static_cast<std::uint32_t>(step >> 32);
  const auto r = philox(counter, key);
  return {r.v[0], r.v[1], r.v[2], r.v[3]};
}

// A uniform number in (0, 1): the middle of one of 2^23 (float) or 2^52 (double) equal cells of the unit interval, so
// that log() never sees 0 and the two ends are symmetric. In double the bits become the mantissa of a number in [1, 2).
float open_unit(std::uint32_t bits) {
  return (static_cast<float>(static_cast<std::int32_t>(bits >> 9)) + 0.5F) * 0x1p-23F;
}
double open_unit(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32) | low;
  return std::bit_cast<double>((bits >> 12) | 0x3FF0000000000000U) - (1 - 0x1p-53);
}

/// cos and sin of 2π u for u in (0, 1). With q the nearest quarter turn and x = 2π u − q π/2 in [−π/4, π/4], their Taylor
/// polynomials: the first term left out is at most (π/4)^11/11! = 1.8e-9 and (π/4)^12/12! = 1.1e-10 in float, and
/// (π/4)^17/17! = 4.6e-17 and (π/4)^18/18! = 2.1e-18 in double: below half a rounding unit. No branches, no library call.
template <class S>
void cos_sin_turn(S u, S& cosine, S& sine) {
  constexpr int kTerms = std::is_same_v<S, float> ? 5 : 8;
  using Int = std::conditional_t<std::is_same_v<S, float>, std::int32_t, std::int64_t>;
  using Bits = std::make_unsigned_t<Int>;
  // u 4 + 1.5 · 2^p (p: mantissa bits) rounds to the nearest integer and leaves it in the low bits.
  constexpr S kRound = S(1.5) * static_cast<S>(Int(1) << (std::numeric_limits<S>::digits - 1));
  const S shifted = 4 * u + kRound;
  const auto quarter = std::bit_cast<Bits>(shifted);
  const S x = (4 * u - (shifted - kRound)) * S(1.57079632679489661923);
  const S y = x * x;
  S s = 0;
  S c = 0;
  for (int k = kTerms; k > 0; --k) {  // Horner: 1 − y/(2·3) (1 − y/(4·5) (...)) and 1 − y/(1·2) (1 − y/(3·4) (...))
    s = 1 - y * (S(1) / static_cast<S>(2 * k * (2 * k + 1))) * (k == kTerms ? S(1) : s);
    c = 1 - y * (S(1) / static_cast<S>(2 * k * (2 * k - 1))) * (k == kTerms ? S(1) : c);
  }
  s *= x;
  const bool swap = (quarter & 1U) != 0;
  constexpr int kSign = std::numeric_limits<Bits>::digits - 1;
  const Bits sine_sign = (quarter >> 1U) << kSign;
  const Bits cosine_sign = ((quarter + 1U) >> 1U) << kSign;
  cosine = std::bit_cast<S>(std::bit_cast<Bits>(swap ? s : c) ^ cosine_sign);
  sine = std::bit_cast<S>(std::bit_cast<Bits>(swap ? c : s) ^ sine_sign);
}

}  // namespace

template <class S>
void fill_uniform(const RngKey& key, std::uint64_t step, std::uint32_t lane, std::span<S> out) {
  const auto stream = stream_key(key);
  static constexpr std::size_t per_block = std::is_same_v<S, float> ? 4 : 2;
  const auto write = [](const Words& w, std::span<S> to) {
    for (std::size_t j = 0; j < std::min(per_block, to.size()); ++j) {
      if constexpr (std::is_same_v<S, float>) {
        to[j] = static_cast<float>(w[j] >> 8) * 0x1p-24F;
      } else {
        to[j] = static_cast<double>(((static_cast<std::uint64_t>(w[2 * j]) << 32) | w[2 * j + 1]) >> 11) * 0x1p-53;
      }
    }
  };
  std::size_t done = 0;
  std::uint32_t next = 0;
  BlockWords words;
  for (; out.size() - done >= kBlocks * per_block; done += kBlocks * per_block, next += kBlocks) {
    draw_blocks(stream, step, lane, next, words);
    for (std::size_t b = 0; b < kBlocks; ++b) {
      write({words.w[0][b], words.w[1][b], words.w[2][b], words.w[3][b]}, out.subspan(done + b * per_block, per_block));
    }
  }
  for (; done < out.size(); done += per_block, ++next) write(block(stream, step, lane, next), out.subspan(done));
}

// Box–Muller: (u, v) uniform gives sqrt(−2 ln u) cos 2πv and sqrt(−2 ln u) sin 2πv, two independent standard normals.
template <class S>
void fill_normal(const RngKey& key, std::uint64_t step, std::uint32_t lane, std::span<S> out) {
  const auto stream = stream_key(key);
  constexpr std::size_t pairs = std::is_same_v<S, float> ? 2 * kBlocks : kBlocks;
  using Pairs = Eigen::Array<S, static_cast<Eigen::Index>(pairs), 1>;
  Pairs radius;
  Pairs angle;
  Eigen::Array<S, static_cast<Eigen::Index>(2 * pairs), 1> normals;
  BlockWords words;
  std::uint32_t next = 0;
  for (std::size_t done = 0; done < out.size(); done += 2 * pairs, next += kBlocks) {
    draw_blocks(stream, step, lane, next, words);
    for (std::size_t b = 0; b < kBlocks; ++b) {
      if constexpr (std::is_same_v<S, float>) {
        radius.data()[b] = open_unit(words.w[0][b]);
        angle.data()[b] = open_unit(words.w[1][b]);
        radius.data()[kBlocks + b] = open_unit(words.w[2][b]);
        angle.data()[kBlocks + b] = open_unit(words.w[3][b]);
      } else {
        radius.data()[b] = open_unit(words.w[0][b], words.w[1][b]);
        angle.data()[b] = open_unit(words.w[2][b], words.w[3][b]);
      }
    }
    radius = (S(-2) * radius.log()).sqrt();
    for (std::size_t i = 0; i < pairs; ++i) {
      S cosine = 0;
      S sine = 0;
      cos_sin_turn<S>(angle.data()[i], cosine, sine);
      normals.data()[i] = radius.data()[i] * cosine;
      normals.data()[pairs + i] = radius.data()[i] * sine;
    }
    std::copy_n(normals.data(), std::min(out.size() - done, 2 * pairs), out.data() + done);
  }
}

std::uint64_t random_bits(const RngKey& key, std::uint64_t step, std::uint32_t lane, std::uint32_t index) {
  const Words w = block(stream_key(key), step, lane, index);
  return (static_cast<std::uint64_t>(w[0]) << 32) | w[1];
}

std::uint64_t random_below(std::uint64_t n, const RngKey& key, std::uint64_t step, std::uint32_t lane,
                           std::uint32_t index) {
  NUDGE_EXPECT(n >= 1);
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(random_bits(key, step, lane, index)) * n) >> 64);
}

#define NUDGE_INSTANTIATE(S)                                                               \
  template void fill_normal<S>(const RngKey&, std::uint64_t, std::uint32_t, std::span<S>); \
  template void fill_uniform<S>(const RngKey&, std::uint64_t, std::uint32_t, std::span<S>);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
