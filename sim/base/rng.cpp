// SPDX-License-Identifier: Apache-2.0
#include "sim/base/rng.hpp"

#include <Random123/philox.h>
#include <Random123/threefry.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

#include "sim/base/cos_sin_turn.hpp"
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

// A uniform number in (0, 1): the middle of one of 2^52 equal cells of the unit interval, so that log() never sees 0 and the two
// ends are symmetric. The bits become the mantissa of a number in [1, 2).
double open_unit(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32) | low;
  return std::bit_cast<double>((bits >> 12) | 0x3FF0000000000000U) - (1 - 0x1p-53);
}

BlockPlace place_of(const r123::Philox4x32::key_type& key, std::uint64_t step, std::uint32_t lane,
                    std::uint32_t first) {
  return {{key.v[0], key.v[1]}, step, lane, first};
}

/// Draws 2 kBlocks standard normal numbers from kBlocks blocks, as philox_blocks.hpp does, in double.
void draw_normals(const BlockPlace& place, double* out) {
  using Numbers = Eigen::Array<double, static_cast<Eigen::Index>(kBlocks), 1>;
  Numbers radius;
  Numbers angle;
  BlockWords words;
  philox_kernel().blocks(place, words);
  for (std::size_t b = 0; b < kBlocks; ++b) {
    radius.data()[b] = open_unit(words.w[0][b], words.w[1][b]);
    angle.data()[b] = open_unit(words.w[2][b], words.w[3][b]);
  }
  radius = (-2 * radius.log()).sqrt();
  for (std::size_t b = 0; b < kBlocks; ++b) {
    double cosine = 0, sine = 0;
    cos_sin_turn<double>(angle.data()[b], cosine, sine);
    out[b] = radius.data()[b] * cosine;
    out[kBlocks + b] = radius.data()[b] * sine;
  }
}

void draw_normals(const BlockPlace& place, float* out) { philox_kernel().normals(place, out); }

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
    philox_kernel().blocks(place_of(stream, step, lane, next), words);
    for (std::size_t b = 0; b < kBlocks; ++b) {
      write({words.w[0][b], words.w[1][b], words.w[2][b], words.w[3][b]}, out.subspan(done + b * per_block, per_block));
    }
  }
  for (; done < out.size(); done += per_block, ++next) write(block(stream, step, lane, next), out.subspan(done));
}

template <class S>
void fill_normal(const RngKey& key, std::uint64_t step, std::uint32_t lane, std::span<S> out) {
  const auto stream = stream_key(key);
  constexpr std::size_t count = (std::is_same_v<S, float> ? 4 : 2) * kBlocks;
  std::uint32_t next = 0;
  std::size_t done = 0;
  for (; out.size() - done >= count; done += count, next += kBlocks) {
    draw_normals(place_of(stream, step, lane, next), out.data() + done);
  }
  if (done == out.size()) return;
  std::array<S, count> last;
  draw_normals(place_of(stream, step, lane, next), last.data());
  std::copy_n(last.data(), out.size() - done, out.data() + done);
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
