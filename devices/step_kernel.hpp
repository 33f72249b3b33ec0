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

#include "devices/step_model.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"

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
  Index size = 0;
  Element<S> element(Index i) const { return {g[i], upper[i], reference[i], width[i], step[i]}; }
  Direction direction(Index i) const { return sign[i] > 0 ? Direction::up : Direction::down; }
};

/// A rule that moves a whole chunk at once: change and noise of every place (0 where n = 0).
template <class Rule, class S>
concept ChunkRule = requires(const Rule& rule, const ElementChunk<S>& chunk, S sigma, ChunkArray<S>& out) {
  rule.moves(chunk, sigma, out, out);
};

template <class Rule, class S>
void chunk_moves(const Rule& rule, const ElementChunk<S>& chunk, S sigma, ChunkArray<S>& change, ChunkArray<S>& noise) {
  if constexpr (ChunkRule<Rule, S>) {
    rule.moves(chunk, sigma, change, noise);
  } else {
    for (Index i = 0; i < chunk.size; ++i) {
      change[i] = noise[i] = 0;
      if (chunk.n[i] == 0) continue;
      change[i] = rule.change(chunk.element(i), chunk.direction(i), chunk.n[i]);
      if (sigma > 0) noise[i] = rule.noise(chunk.element(i), chunk.direction(i), chunk.n[i], sigma);
    }
  }
}

/// Pulses of each place and the devices seen along them; returns whether any pulse is asked for.
template <class S>
bool fill_chunk(const DeviceCells<S>& cells, const UpdateRequest<S>& request, Index begin, std::uint32_t lane,
                ElementChunk<S>& chunk) {
  const S* delta = request.delta.data() + begin;
  bool any = false;
  for (Index i = 0; i < chunk.size; ++i) any = any || delta[i] != 0;
  if (!any || request.factor == 0) return false;
  const S pulse = request.pulse > 0 ? request.pulse : cells.mean_step;
  // Aligned: the last bit of a vectorised random number may depend on the alignment of its target, and stacks differ
  // between threads.
  alignas(64) std::array<S, kDeviceChunk> uniform;
  const bool pulsed = request.mode == PulseMode::pulsed;
  if (pulsed) {
    fill_uniform<S>({request.seed, Purpose::pulse_train, request.entity}, request.number, lane,
                    {uniform.data(), static_cast<std::size_t>(chunk.size)});
  }
  for (Index i = 0; i < chunk.size; ++i) {
    const S wanted = request.factor * delta[i];
    const S n = std::abs(wanted) / pulse;
    chunk.sign[i] = wanted < 0 ? S(-1) : S(1);
    const S whole = std::floor(n);
    chunk.n[i] = pulsed ? whole + (uniform[static_cast<std::size_t>(i)] < n - whole ? S(1) : S(0)) : n;
  }
  for (Index i = 0; i < chunk.size; ++i) {
    const S lower = cells.lower.data()[begin + i];
    const S upper = cells.upper.data()[begin + i];
    const bool up = chunk.sign[i] > 0;
    chunk.g[i] = chunk.sign[i] * cells.g.data()[begin + i];
    chunk.upper[i] = up ? upper : -lower;
    chunk.reference[i] = chunk.sign[i] * cells.reference;
    chunk.width[i] = upper - lower;
    chunk.step[i] = up ? cells.step_up.data()[begin + i] : cells.step_down.data()[begin + i];
  }
  return true;
}

/// Sends the pulses of one chunk [begin, end) of the flat arrays. Rule::change(element, direction, n) is the mean change
/// of n pulses and Rule::noise(element, direction, n, sigma) its standard deviation, both along the direction.
template <class Rule, class S>
std::array<double, 2> update_chunk(const Rule& rule, DeviceCells<S>& cells, const UpdateRequest<S>& request,
                                   Index begin, Index end) {
  ElementChunk<S> chunk;
  chunk.size = end - begin;
  const auto lane = static_cast<std::uint32_t>(begin / kDeviceChunk * 2) + request.side;
  if (!fill_chunk(cells, request, begin, lane, chunk)) return {0, 0};
  ChunkArray<S> change;
  ChunkArray<S> noise;
  ChunkArray<S> normal;
  const bool noisy = request.noise > 0;
  if (noisy) {
    fill_normal<S>({request.seed, Purpose::update_noise, request.entity}, request.number, lane,
                   {normal.data(), static_cast<std::size_t>(chunk.size)});
  }
  chunk_moves(rule, chunk, request.noise, change, noise);
  if (noisy) {
    for (Index i = 0; i < chunk.size; ++i) change[i] += std::min(noise[i], chunk.width[i]) * normal[i];
  }
  std::array<double, 2> count = {0, 0};
  for (Index i = 0; i < chunk.size; ++i) {
    const S n = chunk.n[i];
    S& g = cells.g.data()[begin + i];
    const S lower = cells.lower.data()[begin + i];
    const S upper = cells.upper.data()[begin + i];
    const S moved = std::min(std::max(g + chunk.sign[i] * change[i], lower), upper);
    // n − n is 0 but where n is not finite: a numerical failure upstream shows as NaN.
    const bool finite = n - n == 0;
    g = finite ? (n == 0 ? g : moved) : std::numeric_limits<S>::quiet_NaN();
    const S sent = finite ? n : S(0);
    cells.writes.data()[begin + i] += sent;
    count[0] += static_cast<double>(chunk.sign[i] > 0 ? sent : S(0));
    count[1] += static_cast<double>(chunk.sign[i] > 0 ? S(0) : sent);
  }
  return count;
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
