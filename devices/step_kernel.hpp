// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// Sends the pulses of one chunk [begin, end) of the flat arrays. Rule::change(element, direction, n) is the mean change
/// of n pulses and Rule::noise(element, direction, n, sigma) its standard deviation, both along the direction.
template <class Rule, class S>
std::array<double, 2> update_chunk(const Rule& rule, DeviceCells<S>& cells, const UpdateRequest<S>& request,
                                   Index begin, Index end) {
  // Aligned: the last bit of a vectorised normal number may depend on the alignment of its target, and stacks differ
  // between threads.
  alignas(64) std::array<S, kDeviceChunk> uniform;
  alignas(64) std::array<S, kDeviceChunk> normal;
  const auto size = static_cast<std::size_t>(end - begin);
  const auto lane = static_cast<std::uint32_t>(begin / kDeviceChunk * 2) + request.side;
  const bool pulsed = request.mode == PulseMode::pulsed;
  if (pulsed) {
    fill_uniform<S>({request.seed, Purpose::pulse_train, request.entity}, request.step, lane, {uniform.data(), size});
  }
  if (request.noise > 0) {
    fill_normal<S>({request.seed, Purpose::update_noise, request.entity}, request.step, lane, {normal.data(), size});
  }
  std::array<double, 2> count = {0, 0};
  for (Index i = begin; i < end; ++i) {
    const S wanted = request.factor * request.delta.data()[i];
    S& g = cells.g.data()[i];
    if (wanted == 0) continue;
    if (!std::isfinite(wanted)) {
      g = std::numeric_limits<S>::quiet_NaN();
      continue;
    }
    const auto at = static_cast<std::size_t>(i - begin);
    S n = std::abs(wanted) / cells.mean_step;
    if (pulsed) n = std::floor(n) + (uniform[at] < n - std::floor(n) ? S(1) : S(0));
    if (n == 0) continue;
    const bool up = wanted > 0;
    count[up ? 0 : 1] += static_cast<double>(n);
    const S lower = cells.lower.data()[i];
    const S upper = cells.upper.data()[i];
    const S sign = up ? S(1) : S(-1);
    const Element<S> e = {sign * g, up ? upper : -lower, sign * cells.reference, upper - lower,
                          up ? cells.step_up.data()[i] : cells.step_down.data()[i]};
    const Direction direction = up ? Direction::up : Direction::down;
    S change = rule.change(e, direction, n);
    if (request.noise > 0) {
      change += std::min(rule.noise(e, direction, n, request.noise), e.width) * normal[at];
    }
    g = std::clamp(g + sign * change, lower, upper);
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
