// SPDX-License-Identifier: Apache-2.0
#include "devices/step_kernel.hpp"

#include "devices/device_draws.hpp"

namespace nudge {
namespace {

/// Values of one field for the devices of a chunk, in the memory of a chunk.
template <class S>
using ChunkPart = Eigen::Array<S, Eigen::Dynamic, 1, 0, static_cast<int>(kDeviceChunk), 1>;

/// Values that the devices of the chunk have in one of the flat arrays.
template <class S>
ChunkPart<S> gathered(const ElementChunk<S>& chunk, const Matrix<S>& all) {
  ChunkPart<S> out(chunk.size);
  const S* from = all.data() + chunk.begin;
  for (Index k = 0; k < chunk.size; ++k) out[k] = from[chunk.place[static_cast<std::size_t>(k)]];
  return out;
}

/// Calls work(at): at(array) gives the values of these devices in a flat array, as an expression: the memory itself where all are there.
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

/// Asks all devices of the chunk for pulses and sets n, sign and, for mortal devices, idle. False: no device was asked for any.
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

/// Leaves only the devices that get a pulse, dead or not, where these are at most half: the rest of an update then takes them
/// alone. Sorting more of them out would take longer than it spares (measured); devices without a pulse then have n = 0.
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

}  // namespace

template <class S>
bool fill_chunk(const DeviceCells<S>& cells, const UpdateRequest<S>& request, std::uint32_t lane, Index begin,
                Index end, ElementChunk<S>& chunk) {
  chunk.begin = begin;
  chunk.size = end - begin;
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

template <class S>
void apply_chunk(const ChunkArray<S>& change, ElementChunk<S>& chunk, DeviceCells<S>& cells) {
  using Part = Eigen::Array<S, Eigen::Dynamic, 1>;
  auto n = chunk.n.head(chunk.size);
  ChunkArray<S> moved;
  auto to = moved.head(chunk.size);
  with_fields(chunk, [&](const auto& at) {
    const auto& g = at(cells.g);
    const auto& lower = at(cells.lower);
    const auto& upper = at(cells.upper);
    // n − n is 0 but where n is not finite.
    to = (g + chunk.sign.head(chunk.size) * change.head(chunk.size)).max(lower.min(g)).min(upper.max(g)) + (n - n);
  });
  if ((n - n).sum() != 0) {
    for (Index i = 0; i < chunk.size; ++i) {
      if (std::isfinite(chunk.n[i])) continue;
      chunk.n[i] = 0;
      if (chunk.mortal) chunk.idle[i] = 0;
    }
  }
  if (chunk.all) {
    Eigen::Map<Part>(cells.g.data() + chunk.begin, chunk.size) = to;
    Eigen::Map<Part>(cells.writes.data() + chunk.begin, chunk.size) += n;
    return;
  }
  for (Index k = 0; k < chunk.size; ++k) {
    const Index i = chunk.begin + chunk.place[static_cast<std::size_t>(k)];
    cells.g.data()[i] = moved[k];
    cells.writes.data()[i] += chunk.n[k];
  }
}

#define NUDGE_ELEMENT_CHUNK(S)                                                                             \
  template bool fill_chunk<S>(const DeviceCells<S>&, const UpdateRequest<S>&, std::uint32_t, Index, Index, \
                              ElementChunk<S>&);                                                           \
  template void apply_chunk<S>(const ChunkArray<S>&, ElementChunk<S>&, DeviceCells<S>&);
NUDGE_BOTH_PRECISIONS(NUDGE_ELEMENT_CHUNK)

}  // namespace nudge
