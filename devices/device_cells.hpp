// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "devices/device_spec.hpp"
#include "sim/base/matrix.hpp"
#include "sim/base/rng.hpp"

namespace nudge {

/// Sampled devices of one array, as contiguous arrays of one shape; all in siemens.
template <class S>
struct DeviceCells {
  Matrix<S> g;                     ///< conductance
  Matrix<S> lower;                 ///< lower bound of each device
  Matrix<S> upper;                 ///< upper bound of each device
  Matrix<S> step_up;               ///< mean size of an up pulse at the reference point
  Matrix<S> step_down;             ///< mean size of a down pulse at the reference point, positive
  Matrix<S> gamma_up, gamma_down;  ///< slope of the linear step of each device; empty: the model's own
  Matrix<S> writes;  ///< pulses each device has received: its wear; whole numbers are exact up to 2^24 in float
  Matrix<S> life;    ///< pulses that each device lasts; empty: no device fails
  std::vector<Matrix<S>> own = {};  ///< states that the model declares (DeviceModel::states), in its order and units
  S reference = 0;                  ///< conductance where the pulses have these sizes
  S mean_step = 0;                  ///< s₀: change that the controller expects of one pulse
};

/// Request to every device i for g_i ← g_i + factor · delta_i.
template <class S>
struct UpdateRequest {
  const Matrix<S>& delta;
  S factor = 1;
  PulseMode mode = PulseMode::continuous;
  S noise = 0;        ///< cycle-to-cycle std of one pulse, as a share of that pulse
  S noise_floor = 0;  ///< cycle-to-cycle std of one pulse at any conductance, as a share of the pulse at the reference
  std::uint64_t seed = 0;
  std::uint32_t entity = 0;  ///< number of the array
  std::uint32_t side = 0;    ///< 0 or 1: which array of a pair
  std::uint64_t number = 0;  ///< number of the operation on this array: another one draws other random numbers
  S pulse = 0;               ///< change expected of one pulse; 0: mean_step
  int threads = 1;
};

/// Copies of the cells at the flat places `which`, as one row; scatter puts back the fields that a write changes (g, writes, own).
template <class S>
DeviceCells<S> gather(const DeviceCells<S>& cells, const std::vector<Index>& which);
template <class S>
void scatter(const DeviceCells<S>& part, const std::vector<Index>& which, DeviceCells<S>& cells);

/// Pulses sent, summed over the devices; in continuous mode the mean number, rounded once per update.
struct PulseCount {
  std::uint64_t up = 0;
  std::uint64_t down = 0;
  PulseCount& operator+=(const PulseCount& other) {
    up += other.up;
    down += other.down;
    return *this;
  }
};

}  // namespace nudge
