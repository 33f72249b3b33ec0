// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "devices/element_chunk.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"

namespace nudge {

/// A rule that moves a whole chunk at once: change and noise of every place (0 where n = 0).
template <class Rule, class S>
concept ChunkRule = requires(const Rule& rule, const ElementChunk<S>& chunk, S sigma, S floor, ChunkArray<S>& out) {
  rule.moves(chunk, sigma, floor, out, out);
};

/// Mean change of every place and its standard deviation: of noise of the share sigma of every pulse, and of noise of `floor` mean
/// steps in every pulse, √n of them after n.
template <class Rule, class S>
void chunk_moves(const Rule& rule, const ElementChunk<S>& chunk, S sigma, S floor, ChunkArray<S>& change,
                 ChunkArray<S>& noise) {
  if constexpr (ChunkRule<Rule, S>) {
    rule.moves(chunk, sigma, floor, change, noise);
  } else {
    for (Index i = 0; i < chunk.size; ++i) {
      change[i] = noise[i] = 0;
      if (chunk.n[i] == 0) continue;
      const Element<S> e = chunk.element(i);
      change[i] = rule.change(e, chunk.direction(i), chunk.n[i]);
      if (sigma > 0) noise[i] = rule.noise(e, chunk.direction(i), chunk.n[i], sigma);
      if (floor > 0) noise[i] = std::hypot(noise[i], floor * e.step * std::sqrt(chunk.n[i]));
    }
  }
}

/// Moves the devices of a chunk inside their bounds and counts their pulses. A device that time has taken out of its bounds
/// is not moved further out. What was not finite shows as NaN and counts as no pulse.
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

/// Sends the pulses of one chunk [begin, end) of the flat arrays. Rule::change(element, direction, n) is the mean change
/// of n pulses and Rule::noise(element, direction, n, sigma) its standard deviation, both along the direction.
template <class Rule, class S>
std::array<double, 2> update_chunk(const Rule& rule, DeviceCells<S>& cells, const UpdateRequest<S>& request,
                                   Index begin, Index end) {
  ElementChunk<S> chunk;
  chunk.begin = begin;
  chunk.size = end - begin;
  const auto lane = static_cast<std::uint32_t>(begin / kDeviceChunk * 2) + request.side;
  if (!fill_chunk(cells, request, lane, chunk)) return {0, 0};
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
  chunk_moves(rule, chunk, request.noise, request.noise_floor, change, noise);
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

template <class Rule, class S>
PulseCount update_devices(const Rule& rule, DeviceCells<S>& cells, const UpdateRequest<S>& request) {
  NUDGE_EXPECT(request.delta.rows() == cells.g.rows() && request.delta.cols() == cells.g.cols());
  const Index chunks = (cells.g.size() + kDeviceChunk - 1) / kDeviceChunk;
  std::vector<std::array<double, 2>> counts(static_cast<std::size_t>(chunks));
  parallel_for(chunks, request.threads, [&](Index c, int) {
    counts[static_cast<std::size_t>(c)] =
        update_chunk(rule, cells, request, c * kDeviceChunk, std::min((c + 1) * kDeviceChunk, cells.g.size()));
  });
  double up = 0;
  double down = 0;
  for (const auto& count : counts) {
    up += count[0];
    down += count[1];
  }
  return {static_cast<std::uint64_t>(std::llround(up)), static_cast<std::uint64_t>(std::llround(down))};
}

/// A bounded StepModel made of a rule (see update_chunk).
template <class Rule>
class RuleModel final : public StepModel {
 public:
  explicit RuleModel(Rule rule) : rule_(rule) {}
  bool bounded() const override { return true; }
  PulseCount update(DeviceCells<float>& cells, const UpdateRequest<float>& request) const override {
    return update_devices(rule_, cells, request);
  }
  PulseCount update(DeviceCells<double>& cells, const UpdateRequest<double>& request) const override {
    return update_devices(rule_, cells, request);
  }

 private:
  Rule rule_;
};

}  // namespace nudge
