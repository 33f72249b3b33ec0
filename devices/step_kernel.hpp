// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "devices/registry.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

/// Device seen along the direction of the pulse. For a down pulse all conductances are negated and the bounds swapped, so
/// that a rule is written once, for a step towards `upper`.
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

/// Devices of one chunk that get a pulse, or all of them, as Element along the direction of their pulses, one array per
/// field. Rules whose formula is written for vectors read these arrays.
template <class S>
struct ElementChunk {
  ChunkArray<S> g, upper, reference, width, step, n;
  ChunkArray<S> sign;  ///< +1 up, −1 down
  ChunkArray<S> gamma;
  ChunkArray<S> idle;  ///< pulses that find the device worn out: sent, without effect
  std::array<std::int16_t, static_cast<std::size_t>(kDeviceChunk)>
      place;               ///< place in the chunk; not filled if all devices are there
  bool all = true;         ///< all devices are there
  bool own_gamma = false;  ///< gamma holds a slope of each device
  bool mortal = false;     ///< idle is in use
  Index begin = 0;         ///< begin of the chunk in the flat arrays
  Index size = 0;          ///< number of devices that are there
  Element<S> element(Index i) const {
    return {g[i], upper[i], reference[i], width[i], step[i], own_gamma ? gamma[i] : S(-1)};
  }
  /// Place of device i in the flat arrays.
  Index at(Index i) const { return begin + (all ? i : place[static_cast<std::size_t>(i)]); }
  Direction direction(Index i) const { return sign[i] > 0 ? Direction::up : Direction::down; }
};

/// Fills a chunk with the devices [begin, end) of the flat arrays, at most kDeviceChunk, seen along the pulses that they are
/// asked for. Devices without a pulse are left out where they are many. `lane` of the request's random numbers rounds to
/// whole pulses. False: none gets a pulse.
template <class S>
bool fill_chunk(const DeviceCells<S>& cells, const UpdateRequest<S>& request, std::uint32_t lane, Index begin,
                Index end, ElementChunk<S>& chunk);

/// Moves the devices of a chunk inside their bounds and counts their pulses. A device that time has taken out of its bounds
/// is not moved further out. A change that is not finite shows as NaN and counts as no pulse.
template <class S>
void apply_chunk(const ChunkArray<S>& change, ElementChunk<S>& chunk, DeviceCells<S>& cells);

/// Rule that moves a whole chunk at once: change and noise of every place (0 where n = 0).
template <class Rule, class S>
concept ChunkRule = requires(const Rule& rule, const ElementChunk<S>& chunk, S sigma, S floor, ChunkArray<S>& out) {
  rule.moves(chunk, sigma, floor, out, out);
};

/// Mean change of every place and its standard deviation. The noise has a share sigma of every pulse, and a part of `floor`
/// mean steps in every pulse, √n of them after n.
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

/// Function that gives change and noise of every place of a chunk: the mean change of its pulses along their direction, and
/// its standard deviation.
template <class S>
using ChunkMoves =
    std::function<void(const ElementChunk<S>& chunk, S sigma, S floor, ChunkArray<S>& change, ChunkArray<S>& noise)>;

/// Sends the pulses that a request asks for, chunk by chunk, by the rule `moves`.
template <class S>
PulseCount update_devices(const ChunkMoves<S>& moves, DeviceCells<S>& cells, const UpdateRequest<S>& request);

/// Straight part of a cell of the window: at a distance d ≤ until from the cell's lower end along the direction, S, the mean change of a
/// pulse is change + slope d.
struct StraightCell {
  double until, change, slope;
};

/// Power of step models that move one device without an array around it, as fits ask for by the million.
class SingleSteps {
 public:
  virtual ~SingleSteps() = default;
  /// Mean change of n pulses along their direction from each of `count` places g, S. The bounds do not act. g, upper and
  /// reference are negated for pulses down, as in Element; e.g is not read.
  virtual void changes(Element<double> e, Direction direction, double n, const double* g, double* change,
                       int count) const = 0;
  /// Mean change of one pulse where it is a straight line of the place, in equal cells of the window, the lowest along the direction first.
  /// Beyond a cell's straight part changes() tells it. Empty: no part is straight.
  virtual std::vector<StraightCell> straight_cells(const Element<double>& /*e*/, Direction /*direction*/) const {
    return {};
  }
};

/// Bounded StepModel made of a rule. Rule::change(element, direction, n) is the mean change of n pulses,
/// Rule::noise(element, direction, n, sigma) its standard deviation, both along the direction. A rule may be a
/// ChunkRule instead.
template <class Rule>
class RuleModel final : public StepModel, public SingleSteps {
 public:
  explicit RuleModel(Rule rule) : rule_(rule) {}
  bool bounded() const override { return true; }
  PulseCount update(DeviceCells<float>& cells, const UpdateRequest<float>& request) const override {
    return update_devices(moves<float>(), cells, request);
  }
  PulseCount update(DeviceCells<double>& cells, const UpdateRequest<double>& request) const override {
    return update_devices(moves<double>(), cells, request);
  }
  void changes(Element<double> e, Direction direction, double n, const double* g, double* change,
               int count) const override {
    if constexpr (requires { rule_.change(e, direction, n); }) {
      for (int i = 0; i < count; ++i) {
        e.g = g[i];
        change[i] = rule_.change(e, direction, n);
      }
    } else {
      static_cast<void>(g);
      throw ContractViolation("this rule moves whole chunks only");
    }
  }
  std::vector<StraightCell> straight_cells(const Element<double>& e, Direction direction) const override {
    if constexpr (requires { rule_.straight_cells(e, direction); }) return rule_.straight_cells(e, direction);
    return {};
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

/// Place of a device along the direction of its pulses: 0 at the bound behind it, 1 at the bound ahead.
template <class S>
S place(const Element<S>& e) {
  return std::clamp(S(1) - (e.upper - e.g) / e.width, S(0), S(1));
}

/// Noise of rules whose pulses within one request are taken as equal: sigma |change|/√n. Exact for one pulse and where the
/// step does not change along the way.
template <class Rule, class S>
S equal_pulse_noise(const Rule& rule, const Element<S>& e, Direction direction, S n, S sigma) {
  return sigma * rule.change(e, direction, n) / std::sqrt(n);
}

}  // namespace nudge
