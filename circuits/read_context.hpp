// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace nudge {

/// What the reads of one sequence took from the supply: Σ_ij G_ij V_i² for the time of each read, and conversions.
struct ReadMeter {
  double array_J = 0;
  std::uint64_t dac_conversions = 0, adc_conversions = 0;
  std::uint64_t reads = 0;  ///< of one row of a drive each
  ReadMeter& operator+=(const ReadMeter& other) {
    array_J += other.array_J;
    dac_conversions += other.dac_conversions;
    adc_conversions += other.adc_conversions;
    reads += other.reads;
    return *this;
  }
};

/// Which read of which sequence this is: makes fresh noise a pure function of its place, not of threads or order.
/// One context per sequence and phase; every read of an array advances `read`.
struct ReadContext {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;      ///< training step
  std::uint32_t sequence = 0;  ///< sequence in the batch
  std::uint32_t phase = 0;     ///< free, nudged, ...: see training/
  std::uint32_t read = 0;      ///< advanced by every read
  bool noisy = true;           ///< false: fresh noise off (references, digital phases)
  bool noisy_cache = false;    ///< also the reads that are stored at a linearisation point (else averaged, quiet)
  double interval = 1.0;       ///< simulated time between reads in units of τ; noise std scales as 1/√interval
  ReadMeter* meter = nullptr;  ///< where crossbars add their energy; null: not metered
  double noise_scale() const { return noisy ? 1.0 / std::sqrt(interval) : 0.0; }
};

}  // namespace nudge
