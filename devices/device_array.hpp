// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "devices/array_identity.hpp"
#include "devices/step_model.hpp"

namespace nudge {

/// Devices of one kind, sampled from a DeviceSpec: bounds and pulse sizes of each device are drawn once (static,
/// device-to-device), the conductance starts at g_min.
template <class S>
class DeviceArray {
 public:
  /// The spec must be valid (DeviceSpec::validate). threads as in parallel_for.
  DeviceArray(const DeviceSpec& spec, Index rows, Index cols, const ArrayIdentity& identity, int threads = 1);

  /// g ← target + programming_error · (g_max − g_min) · N(0, 1), clipped to the bounds of each device. `number` says
  /// which programming of this array it is: another number draws other errors.
  void program(const Matrix<S>& target, std::uint64_t number);

  /// Ask for g ← g + factor · delta (siemens) in training step `step`; returns the pulses sent.
  PulseCount update(const Matrix<S>& delta, S factor, std::uint64_t step);

  const Matrix<S>& conductance() const { return cells_.g; }

  /// Everything that was sampled or learnt, for checkpoints.
  DeviceCells<S>& cells() { return cells_; }
  const DeviceCells<S>& cells() const { return cells_; }

 private:
  void sample();
  Matrix<S> normal(Purpose purpose, std::uint64_t step) const;

  DeviceSpec spec_;
  ArrayIdentity identity_;
  int threads_;
  std::shared_ptr<const StepModel> model_;
  DeviceCells<S> cells_;
};

}  // namespace nudge
