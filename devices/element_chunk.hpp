// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>

#include "devices/step_model.hpp"

namespace nudge {

/// One device seen along the direction of the pulse: for a down pulse all conductances are negated and the bounds
/// swapped, so that a rule is written once, for a step towards `upper`.
template <class S>
struct Element {
  S g;
  S upper;
  S reference;
  S width;  ///< upper − lower
  S step;   ///< mean pulse size at the reference point
  S gamma;  ///< slope of the linear step of this device; negative: the rule's own
};

// Devices handled with one draw of random numbers: fixed, so that results do not depend on the number of threads.
constexpr Index kDeviceChunk = 1024;

template <class S>
using ChunkArray = Eigen::Array<S, static_cast<int>(kDeviceChunk), 1>;

/// The devices of one chunk, or those of them that get a pulse, along the direction of their pulses, as Element, one array per field: what a rule reads whose
/// formula is written for vectors.
template <class S>
struct ElementChunk {
  ChunkArray<S> g, upper, reference, width, step, n;
  ChunkArray<S> sign;  ///< +1 up, −1 down
  ChunkArray<S> gamma;
  ChunkArray<S> idle;  ///< pulses that find the device worn out: sent, without effect
  std::array<std::int16_t, static_cast<std::size_t>(kDeviceChunk)>
      place;               ///< where in the chunk; not filled where all are there
  bool all = true;         ///< all devices are there
  bool own_gamma = false;  ///< gamma holds a slope of each device
  bool mortal = false;     ///< idle is in use
  Index begin = 0;         ///< of the chunk in the flat arrays
  Index size = 0;          ///< devices that are there
  Element<S> element(Index i) const {
    return {g[i], upper[i], reference[i], width[i], step[i], own_gamma ? gamma[i] : S(-1)};
  }
  Direction direction(Index i) const { return sign[i] > 0 ? Direction::up : Direction::down; }
};

/// The devices [begin, end) of the flat arrays, at most kDeviceChunk, seen along the pulses that they are asked for; those without one are left
/// out where they are many. `lane` of the request's random numbers rounds to whole pulses. False: none gets a pulse.
template <class S>
bool fill_chunk(const DeviceCells<S>& cells, const UpdateRequest<S>& request, std::uint32_t lane, Index begin,
                Index end, ElementChunk<S>& chunk);

/// Moves the devices of a chunk inside their bounds and counts their pulses. A device that time has taken out of its bounds
/// is not moved further out. What was not finite shows as NaN and counts as no pulse.
template <class S>
void apply_chunk(const ChunkArray<S>& change, ElementChunk<S>& chunk, DeviceCells<S>& cells);

}  // namespace nudge
