// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "sim/base/matrix.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/rng.hpp"

namespace nudge {

/// Identity of an array of devices, from which its random numbers follow.
struct ArrayIdentity {
  std::uint64_t seed = 0;
  std::uint32_t entity = 0;  ///< number of the crossbar in the model
  std::uint32_t side = 0;    ///< 0 or 1: G+ or G−
};

/// Devices that share one draw of random numbers: fixed, so that results do not depend on the number of threads.
constexpr Index kDrawChunk = 1024;

/// Calls body(chunk, begin, end) for each chunk of kDrawChunk devices. A single chunk runs without other threads: small
/// arrays whose time passes in many short steps would wait for them most of the time.
template <class Body>
void for_draw_chunks(Index devices, int threads, const Body& body) {
  const Index chunks = (devices + kDrawChunk - 1) / kDrawChunk;
  parallel_for(chunks, chunks > 1 ? threads : 1,
               [&](Index c, int) { body(c, c * kDrawChunk, std::min((c + 1) * kDrawChunk, devices)); });
}

/// Numbers of the static draws of an array (the step of Purpose::device_to_device). Append only: they are part of the
/// reproducibility promise. StochasticBits uses 64 and 65.
enum class StaticDraw : std::uint64_t {
  upper_bound = 0,
  lower_bound = 1,
  step = 2,
  asymmetry = 3,
  symmetry_point = 4,
  fault = 5,
  fault_place = 6,
  leak_time = 7,
  trap = 8,
  trap_amplitude = 9,
  trap_time = 10,
  trap_state = 11,
  slope_up = 12,
  slope_down = 13,
  life = 14,
  joint = 16,    // and the five that follow, one per number
  flicker = 32,  // and the following, one per time constant
};

/// Lane of chunk c of one side of an array; `part` separates draws of the same purpose and step.
inline std::uint32_t draw_lane(const ArrayIdentity& identity, Index chunk, std::uint32_t part = 0) {
  return (part << 27) + static_cast<std::uint32_t>(2 * chunk) + identity.side;
}

/// Draws one standard normal number per device, (rows, cols).
template <class S>
Matrix<S> draw_normal(const ArrayIdentity& identity, Purpose purpose, std::uint64_t step, Index rows, Index cols,
                      int threads, std::uint32_t part = 0) {
  Matrix<S> out(rows, cols);
  const RngKey key = {identity.seed, purpose, identity.entity};
  for_draw_chunks(out.size(), threads, [&](Index c, Index begin, Index end) {
    fill_normal<S>(key, step, draw_lane(identity, c, part), {out.data() + begin, out.data() + end});
  });
  return out;
}

/// Draws one uniform number in [0, 1) per device, in double: probabilities may be as small as 1e-15.
inline Matrix<double> draw_uniform(const ArrayIdentity& identity, Purpose purpose, std::uint64_t step, Index rows,
                                   Index cols, int threads, std::uint32_t part = 0) {
  Matrix<double> out(rows, cols);
  const RngKey key = {identity.seed, purpose, identity.entity};
  for_draw_chunks(out.size(), threads, [&](Index c, Index begin, Index end) {
    fill_uniform<double>(key, step, draw_lane(identity, c, part), {out.data() + begin, out.data() + end});
  });
  return out;
}

}  // namespace nudge
