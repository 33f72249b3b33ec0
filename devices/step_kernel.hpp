// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <functional>

#include "devices/element_chunk.hpp"
#include "devices/step_model.hpp"

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

/// Change and noise of every place of a chunk: mean change of its pulses along their direction and its standard deviation.
template <class S>
using ChunkMoves =
    std::function<void(const ElementChunk<S>& chunk, S sigma, S floor, ChunkArray<S>& change, ChunkArray<S>& noise)>;

/// Sends what a request asks for, chunk by chunk, as `moves` has it.
template <class S>
PulseCount update_devices(const ChunkMoves<S>& moves, DeviceCells<S>& cells, const UpdateRequest<S>& request);

/// A bounded StepModel made of a rule: Rule::change(element, direction, n) is the mean change of n pulses and
/// Rule::noise(element, direction, n, sigma) its standard deviation, both along the direction; or a ChunkRule.
template <class Rule>
class RuleModel final : public StepModel {
 public:
  explicit RuleModel(Rule rule) : rule_(rule) {}
  bool bounded() const override { return true; }
  PulseCount update(DeviceCells<float>& cells, const UpdateRequest<float>& request) const override {
    return update_devices(moves<float>(), cells, request);
  }
  PulseCount update(DeviceCells<double>& cells, const UpdateRequest<double>& request) const override {
    return update_devices(moves<double>(), cells, request);
  }

 private:
  template <class S>
  ChunkMoves<S> moves() const {
    return [this](const ElementChunk<S>& chunk, S sigma, S floor, ChunkArray<S>& change, ChunkArray<S>& noise) {
      chunk_moves(rule_, chunk, sigma, floor, change, noise);
    };
  }

  Rule rule_;
};

}  // namespace nudge
