// SPDX-License-Identifier: Apache-2.0
#include "devices/step_kernel.hpp"

#include <vector>

#include "devices/device_draws.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"

namespace nudge {
namespace {

/// Sends the pulses of one chunk [begin, end) of the flat arrays; returns those up and down.
template <class S>
std::array<double, 2> update_chunk(const ChunkMoves<S>& moves, DeviceCells<S>& cells, const UpdateRequest<S>& request,
                                   Index begin, Index end) {
  ElementChunk<S> chunk;
  const auto lane = static_cast<std::uint32_t>(begin / kDeviceChunk * 2) + request.side;
  if (!fill_chunk(cells, request, lane, begin, end, chunk)) return {0, 0};
  // Aligned: the last bit of a vectorised random number may depend on the alignment of its target, and stacks differ
  // between threads.
  ChunkArray<S> change;
  ChunkArray<S> noise;
  ChunkArray<S> normal;
  const bool noisy = request.noise > 0 || request.noise_floor > 0;
  if (noisy) {
    fill_normal<S>({request.seed, Purpose::update_noise, request.entity}, request.number, lane,
                   {normal.data(), static_cast<std::size_t>(chunk.size)});
  }
  moves(chunk, request.noise, request.noise_floor, change, noise);
  if (noisy)
    change.head(chunk.size) += noise.head(chunk.size).min(chunk.width.head(chunk.size)) * normal.head(chunk.size);
  apply_chunk(change, chunk, cells);
  const auto n = chunk.n.head(chunk.size).template cast<double>();
  const auto sign = chunk.sign.head(chunk.size).template cast<double>();
  double all = n.sum();
  double net = (n * sign).sum();
  if (chunk.mortal) {
    const auto idle = chunk.idle.head(chunk.size).template cast<double>();
    all += idle.sum();
    net += (idle * sign).sum();
  }
  return {(all + net) / 2, (all - net) / 2};
}

}  // namespace

template <class S>
PulseCount update_devices(const ChunkMoves<S>& moves, DeviceCells<S>& cells, const UpdateRequest<S>& request) {
  NUDGE_EXPECT(request.delta.rows() == cells.g.rows() && request.delta.cols() == cells.g.cols());
  const Index chunks = (cells.g.size() + kDeviceChunk - 1) / kDeviceChunk;
  std::vector<std::array<double, 2>> counts(static_cast<std::size_t>(chunks));
  parallel_for(chunks, request.threads, [&](Index c, int) {
    counts[static_cast<std::size_t>(c)] =
        update_chunk(moves, cells, request, c * kDeviceChunk, std::min((c + 1) * kDeviceChunk, cells.g.size()));
  });
  double up = 0;
  double down = 0;
  for (const auto& count : counts) {
    up += count[0];
    down += count[1];
  }
  return {static_cast<std::uint64_t>(std::llround(up)), static_cast<std::uint64_t>(std::llround(down))};
}

#define NUDGE_STEP_KERNEL(S) \
  template PulseCount update_devices<S>(const ChunkMoves<S>&, DeviceCells<S>&, const UpdateRequest<S>&);
NUDGE_BOTH_PRECISIONS(NUDGE_STEP_KERNEL)

}  // namespace nudge
