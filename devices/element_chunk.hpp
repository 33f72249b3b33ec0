// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
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

/// A field of a chunk's devices, in the memory of a chunk.
template <class S>
using ChunkPart = Eigen::Array<S, Eigen::Dynamic, 1, 0, static_cast<int>(kDeviceChunk), 1>;

/// What the devices of the chunk have in one of the flat arrays.
template <class S>
ChunkPart<S> gathered(const ElementChunk<S>& chunk, const Matrix<S>& all) {
  ChunkPart<S> out(chunk.size);
  const S* from = all.data() + chunk.begin;
  for (Index k = 0; k < chunk.size; ++k) out[k] = from[chunk.place[static_cast<std::size_t>(k)]];
  return out;
}

/// work(at): at(array) is what these devices have in a flat array, as an expression: the memory itself where all are there.
template <class S, class Work>
void with_fields(const ElementChunk<S>& chunk, const Work& work) {
  if (chunk.all) {
    work([&chunk](const Matrix<S>& all) {
      return Eigen::Map<const Eigen::Array<S, Eigen::Dynamic, 1>>(all.data() + chunk.begin, chunk.size);
    });
  } else {
    work([&chunk](const Matrix<S>& all) { return gathered(chunk, all); });
  }
}

/// Asks all devices of the chunk for pulses, n and sign of them; of mortal ones, idle. False: none was asked for any.
template <class S>
bool ask_pulses(const DeviceCells<S>& cells, const UpdateRequest<S>& request, std::uint32_t lane,
                ElementChunk<S>& chunk) {
  const auto at = [&chunk](const Matrix<S>& all) {
    return Eigen::Map<const Eigen::Array<S, Eigen::Dynamic, 1>>(all.data() + chunk.begin, chunk.size);
  };
  // A sum with a NaN is not 0 either.
  if (request.factor == 0 || at(request.delta).abs().sum() == 0) return false;
  const S pulse = request.pulse > 0 ? request.pulse : cells.mean_step;
  auto n = chunk.n.head(chunk.size);
  n = (request.factor * at(request.delta)).abs() / pulse;
  for (Index i = 0; i < chunk.size; ++i)
    chunk.sign[i] = std::copysign(S(1), request.factor * request.delta.data()[chunk.begin + i]);
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
  return true;
}

/// Where at most half of the devices get a pulse, dead or not, leaves those: the rest of an update then takes them alone. Of more, sorting
/// them out would take longer than it spares (measured), and those without one have n = 0.
template <class S>
void leave_active(ElementChunk<S>& chunk) {
  ChunkArray<S> sent;
  sent.head(chunk.size) = chunk.n.head(chunk.size);
  if (chunk.mortal) sent.head(chunk.size) += chunk.idle.head(chunk.size);
  int active = 0;
  for (Index i = 0; i < chunk.size; ++i) active += static_cast<int>(sent[i] != 0);  // NaN is not 0
  chunk.all = 2 * active > chunk.size;
  if (chunk.all) return;
  std::size_t next = 0;
  for (Index i = 0; i < chunk.size; ++i) {  // without a branch: which get one is not to be guessed
    chunk.place[next] = static_cast<std::int16_t>(i);
    next += static_cast<std::size_t>(sent[i] != 0);
  }
  chunk.size = active;
  for (Index k = 0; k < active; ++k) {
    const Index i = chunk.place[static_cast<std::size_t>(k)];
    chunk.n[k] = chunk.n[i];
    chunk.sign[k] = chunk.sign[i];
    if (chunk.mortal) chunk.idle[k] = chunk.idle[i];
  }
}

/// The devices of the chunk seen along their pulses, those without one left out where there are many; returns whether any gets one.
template <class S>
bool fill_chunk(const DeviceCells<S>& cells, const UpdateRequest<S>& request, std::uint32_t lane,
                ElementChunk<S>& chunk) {
  if (!ask_pulses(cells, request, lane, chunk)) return false;
  leave_active(chunk);
  if (chunk.size == 0) return false;
  const auto sign = chunk.sign.head(chunk.size);
  const auto up = S(0.5) + S(0.5) * sign;  // 1 or 0: an exact choice that needs no branch
  const auto down = S(0.5) - S(0.5) * sign;
  chunk.own_gamma = cells.gamma_up.size() > 0;
  with_fields(chunk, [&](const auto& at) {
    chunk.g.head(chunk.size) = sign * at(cells.g);
    chunk.upper.head(chunk.size) = up * at(cells.upper) - down * at(cells.lower);
    chunk.reference.head(chunk.size) = sign * cells.reference;
    chunk.width.head(chunk.size) = at(cells.upper) - at(cells.lower);
    chunk.step.head(chunk.size) = up * at(cells.step_up) + down * at(cells.step_down);
    if (chunk.own_gamma) chunk.gamma.head(chunk.size) = up * at(cells.gamma_up) + down * at(cells.gamma_down);
  });
  return true;
}

}  // namespace nudge
