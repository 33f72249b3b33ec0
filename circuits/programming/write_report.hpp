// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "devices/device_cells.hpp"

namespace nudge {

/// Where a pair of arrays stands: what comes after it can be told from what was before.
struct WriteMark {
  PulseCount pulses;
  double plus_J = 0, minus_J = 0;  ///< heat of the pulses of either array
  double plus_s = 0, minus_s = 0;  ///< and the time they took
};

/// What writing devices took, and how well it went. Errors are those of the conductances themselves, not of their noisy
/// reads, relative to the window; failures are devices that no read found within tolerance before their pulses ran out
/// (stuck, bounded short of the target, or too noisy).
struct WriteReport {
  PulseCount pulses;
  std::uint64_t reads = 0;  ///< verify reads of single devices
  std::uint64_t devices = 0;
  std::uint64_t failures = 0;
  double error_sum = 0;
  double error_squares = 0;

  double error_mean() const { return devices == 0 ? 0 : error_sum / static_cast<double>(devices); }
  double error_rms() const { return devices == 0 ? 0 : std::sqrt(error_squares / static_cast<double>(devices)); }
  WriteReport& operator+=(const WriteReport& other) {
    pulses += other.pulses;
    reads += other.reads;
    devices += other.devices;
    failures += other.failures;
    error_sum += other.error_sum;
    error_squares += other.error_squares;
    return *this;
  }
};

/// What writing an array has taken since construction.
struct WriteCounts {
  PulseCount pulses;
  std::uint64_t programmings = 0;
  std::uint64_t operations = 0;  ///< pulsed writes of the whole array: the address of their random numbers
  std::uint64_t verify_reads = 0;
  std::uint64_t verified = 0;  ///< devices written by write–verify
  std::uint64_t failures = 0;
  std::uint64_t slots = 0;              ///< of coincidence pulse trains
  std::uint64_t clipped_samples = 0;    ///< of coincidence updates: a firing probability was cut at 1
  PulseCount programming;               ///< of `pulses`, those that programming sent: no learning
  std::uint64_t programming_reads = 0;  ///< of `verify_reads`
};

}  // namespace nudge
