// SPDX-License-Identifier: Apache-2.0
#include "sim/base/rng.hpp"

#include <Random123/philox.h>
#include <Random123/threefry.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include "sim/base/errors.hpp"

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

// A uniform number in (0, 1): the middle of one of 2^24 (float) or 2^53 (double) equal cells of the unit interval, so
// that log() never sees 0 and the two ends are symmetric.
float open_unit(std::uint32_t bits) { return (static_cast<float>(bits >> 9) + 0.5F) * 0x1p-23F; }
double open_unit(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32) | low;
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

// Blocks drawn at a time; small enough for the stack, long enough for Eigen's packet log, sqrt, sin and cos.
constexpr std::uint32_t kBlocks = 64;

}  // namespace

template <class S>
void fill_uniform(const RngKey& key, std::uint64_t step, std::uint32_t lane, std::span<S> out) {
  const auto stream = stream_key(key);
  constexpr std::size_t per_block = std::is_same_v<S, float> ? 4 : 2;
  for (std::size_t i = 0; i < out.size(); i += per_block) {
    const Words w = block(stream, step, lane, static_cast<std::uint32_t>(i / per_block));
    for (std::size_t j = 0; j < per_block && i + j < out.size(); ++j) {
      if constexpr (std::is_same_v<S, float>) {
        out[i + j] = static_cast<float>(w[j] >> 8) * 0x1p-24F;
      } else {
        out[i + j] = static_cast<double>(((static_cast<std::uint64_t>(w[2 * j]) << 32) | w[2 * j + 1]) >> 11) * 0x1p-53;
      }
    }
  }
}

// Box–Muller: (u, v) uniform gives sqrt(−2 ln u) cos 2πv and sqrt(−2 ln u) sin 2πv, two independent standard normals.
template <class S>
void fill_normal(const RngKey& key, std::uint64_t step, std::uint32_t lane, std::span<S> out) {
  const auto stream = stream_key(key);
  constexpr std::size_t pairs_per_block = std::is_same_v<S, float> ? 2 : 1;
  constexpr std::size_t pairs = kBlocks * pairs_per_block;
  using Pairs = Eigen::Array<S, pairs, 1>;
  Pairs radius;
  Pairs angle;
  std::uint32_t next = 0;
  for (std::size_t done = 0; done < out.size(); done += 2 * pairs) {
    for (std::uint32_t b = 0; b < kBlocks; ++b, ++next) {
      const Words w = block(stream, step, lane, next);
      if constexpr (std::is_same_v<S, float>) {
        radius(2 * b) = open_unit(w[0]);
        angle(2 * b) = open_unit(w[1]);
        radius(2 * b + 1) = open_unit(w[2]);
        angle(2 * b + 1) = open_unit(w[3]);
      } else {
        radius(b) = open_unit(w[0], w[1]);
        angle(b) = open_unit(w[2], w[3]);
      }
    }
    radius = (S(-2) * radius.log()).sqrt();
    angle *= S(2 * 3.14159265358979323846);
    const std::size_t left = out.size() - done;
    const auto cosines = static_cast<Eigen::Index>(std::min(left, pairs));
    const auto sines = static_cast<Eigen::Index>(left > pairs ? std::min(left - pairs, pairs) : 0);
    Eigen::Map<Eigen::Array<S, Eigen::Dynamic, 1>> target(out.data() + done, cosines + sines);
    target.head(cosines) = (radius * angle.cos()).head(cosines);
    if (sines > 0) target.tail(sines) = (radius * angle.sin()).head(sines);
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
