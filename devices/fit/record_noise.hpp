// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace nudge {

/// Slow noise of reads: a Gaussian process of this deviation whose correlation falls e-fold in so many pulses.
struct SlowReadNoise {
  double sd_S = 0, pulses = 1;
};

/// Noise of a measured record: of each pulse, of that pulse (device.update_noise), white noise of each read, and slow noise of reads; one
/// process per decade of pulses, all of one size, is 1/f noise, as devices have it (devices/slow/flicker.hpp).
struct RecordNoise {
  static constexpr std::size_t most_slow = 4;
  double update = 0, read_S = 0;
  std::vector<SlowReadNoise> slow = {};  ///< up to most_slow
};

}  // namespace nudge
