// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

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

/// The devices of one chunk along the direction of their pulses, as Element, one array per field: what a rule reads whose
/// formula is written for vectors. Places without a pulse have n = 0.
template <class S>
struct ElementChunk {
  ChunkArray<S> g, upper, reference, width, step, n;
  ChunkArray<S> sign;  ///< +1 up, −1 down
  ChunkArray<S> gamma;
  ChunkArray<S> idle;      ///< pulses that find the device worn out: sent, without effect
  bool own_gamma = false;  ///< gamma holds a slope of each device
  bool mortal = false;     ///< idle is in use
  Index size = 0;
  Element<S> element(Index i) const {
    return {g[i], upper[i], reference[i], width[i], step[i], own_gamma ? gamma[i] : S(-1)};
  }
  Direction direction(Index i) const { return sign[i] > 0 ? Direction::up : Direction::down; }
};

/// Pulses of each place and the devices seen along them; returns whether any pulse is asked for.
template <class S>
bool fill_chunk(const DeviceCells<S>& cells, const UpdateRequest<S>& request, Index begin, std::uint32_t lane,
                ElementChunk<S>& chunk) {
  const auto at = [begin, &chunk](const Matrix<S>& all) {
    return Eigen::Map<const Eigen::Array<S, Eigen::Dynamic, 1>>(all.data() + begin, chunk.size);
  };
  // A sum with a NaN is not 0 either.
  if (request.factor == 0 || at(request.delta).abs().sum() == 0) return false;
  const S pulse = request.pulse > 0 ? request.pulse : cells.mean_step;
  auto n = chunk.n.head(chunk.size);
  auto sign = chunk.sign.head(chunk.size);
  n = (request.factor * at(request.delta)).abs() / pulse;
  for (Index i = 0; i < chunk.size; ++i)
    chunk.sign[i] = std::copysign(S(1), request.factor * request.delta.data()[begin + i]);
  // Whole numbers of pulses need no coin; a sum with a NaN is not 0.
  if (request.mode == PulseMode::pulsed && (n - n.floor()).sum() != 0) {
    ChunkArray<S> uniform;  // aligned: see update_chunk
    fill_uniform<S>({request.seed, Purpose::pulse_train, request.entity}, request.number, lane,
                    {uniform.data(), static_cast<std::size_t>(chunk.size)});
    // ⌊n⌋, and one more where the number drawn is below the rest.
    n = n.floor() + ((n - n.floor()) - uniform.head(chunk.size)).ceil();
  }
  chunk.mortal = cells.life.size() > 0;
  if (chunk.mortal) {
    // A device dies at the first whole pulse at or beyond its life; NaN passes.
    auto idle = chunk.idle.head(chunk.size);
    idle = (n - (at(cells.life).ceil() - at(cells.writes)).max(S(0))).max(S(0));
    n = n - idle;
  }
  const auto up = S(0.5) + S(0.5) * sign;  // 1 or 0: an exact choice that needs no branch
  const auto down = S(0.5) - S(0.5) * sign;
  chunk.g.head(chunk.size) = sign * at(cells.g);
  chunk.upper.head(chunk.size) = up * at(cells.upper) - down * at(cells.lower);
  chunk.reference.head(chunk.size) = sign * cells.reference;
  chunk.width.head(chunk.size) = at(cells.upper) - at(cells.lower);
  chunk.step.head(chunk.size) = up * at(cells.step_up) + down * at(cells.step_down);
  chunk.own_gamma = cells.gamma_up.size() > 0;
  if (chunk.own_gamma) chunk.gamma.head(chunk.size) = up * at(cells.gamma_up) + down * at(cells.gamma_down);
  return true;
}

}  // namespace nudge
