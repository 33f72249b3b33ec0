// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/linear_map.hpp"
#include "devices/device_array.hpp"

namespace nudge {

/// Weights held by differential pairs of devices, w = (G⁺ − G⁻)/k with k = (g_max − g_min)/w_max siemens per unit of weight,
/// programmed around the middle of the window: G^± = (g_min + g_max)/2 ± k w/2. The writing side of a crossbar.
///
/// Updates are split evenly, G⁺ by +k δ/2 and G⁻ by −k δ/2, each through the step model of its devices. Wire resistance
/// enters through the effective matrix of each tile, computed anew whenever conductances change.
template <class S>
class DevicePairs {
 public:
  /// Programs the weights (inputs, outputs). `id` numbers the array within the model, `seed` is that of the run: together
  /// they name its devices. UserError for a weight that is not finite.
  DevicePairs(const CrossbarSpec& spec, const Matrix<S>& weights, std::uint32_t id, std::uint64_t seed);

  void program(const Matrix<S>& target);
  void update(const Matrix<S>& delta, std::uint64_t step);

  /// Time passes for the devices (DeviceArray::elapse).
  void elapse(double seconds, std::uint64_t step);

  /// What the lines see, wires included, in units of weight.
  const Matrix<S>& weights() const { return weights_; }
  /// k, siemens per unit of weight.
  S siemens_per_weight() const { return scale_(0, 0); }
  PulseCount pulses() const { return pulses_; }
  const DeviceArray<S>& plus() const { return plus_; }
  const DeviceArray<S>& minus() const { return minus_; }

  std::vector<StateArray<S>> state();
  void state_restored();
  std::vector<MapReading> readings() const;

 private:
  void check_target(const Matrix<S>& target) const;
  void choose_scale(const Matrix<S>& target);
  void write(const Matrix<S>& target);
  void refresh();

  CrossbarSpec spec_;
  std::uint32_t id_;
  DeviceArray<S> plus_;
  DeviceArray<S> minus_;
  Matrix<S> weights_;
  Matrix<S> scale_;     ///< (1, 1), a matrix so that it can be checkpointed
  Matrix<S> counters_;  ///< image of the counters below for checkpoints
  PulseCount pulses_;
  std::uint64_t programmings_ = 0;
};

}  // namespace nudge
