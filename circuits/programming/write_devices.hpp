// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/programming/programming_spec.hpp"
#include "circuits/programming/write_report.hpp"
#include "devices/device_array.hpp"

namespace nudge {

/// The device itself: as spec without spreads, noise, errors, faults and what time does.
DeviceSpec nominal_device(const DeviceSpec& spec);

/// One read of the devices at the flat places, m = g + σ N(0, 1), σ that of a verify read: (1, which.size()), siemens.
/// `operation` addresses its random numbers.
template <class S>
Matrix<S> verify_read(const DeviceArray<S>& array, const std::vector<Index>& which, const ProgrammingSpec& spec,
                      std::uint64_t operation);

/// Brings the devices at the flat places `which` to target(0, k), siemens, by write–verify. In each round the controller
/// reads every device that is not done, m = g + σ N(0, 1) with σ = read_noise · window/√read_time; accepts it where
/// |m − target| ≤ tolerance · window; and otherwise sends max(1, ⌊burst |m − target|/s₀⌋) pulses in the right direction,
/// s₀ the nominal pulse, no more than the limit in total. burst ≤ 1/2 keeps a device from overshooting back and forth
/// whose pulses are up to four times the nominal. Where pulses grow (spec.grows()) a round sends one: V + k step_V of width · step_width^k in round
/// k of those that went the same way without a turn. `operation` numbers the writes of this array for its random numbers and
/// is advanced.
template <class S>
WriteReport write_verify(DeviceArray<S>& array, const std::vector<Index>& which, const Matrix<S>& target,
                         const ProgrammingSpec& spec, std::uint64_t& operation);

/// Brings all devices to `target` blindly: 3 · device.pulses down pulses reset them, then each gets the number of up
/// pulses after which the nominal device (no spreads, no noise), started at g_min, is nearest to its target.
template <class S>
WriteReport write_open_loop(DeviceArray<S>& array, const Matrix<S>& target, const ProgrammingSpec& spec,
                            std::uint64_t& operation);

/// Programs a whole array by spec.scheme. `programming` numbers the programmings, for the draws of open_loop_error.
template <class S>
WriteReport write_array(DeviceArray<S>& array, const Matrix<S>& target, const ProgrammingSpec& spec,
                        std::uint64_t programming, std::uint64_t& operation);

}  // namespace nudge
