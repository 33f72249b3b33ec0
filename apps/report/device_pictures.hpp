// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "sim/base/matrix.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge::report {

/// What `nudge devices characterize` measured: a file of kind characterize. Lists are empty where the file has no such group.
struct DevicePictures {
  std::string device;                                ///< name of the preset, model or file
  std::vector<double> pulse, stair_mean, stair_std;  ///< staircase, in S
  double half_up = std::numeric_limits<
      double>::quiet_NaN();  ///< pulses to the middle of the mean device's range; NaN: not in the file
  double half_down = std::numeric_limits<double>::quiet_NaN();  ///< and back from the top
  Matrix<double> stairs;                                        ///< (devices, points), in S
  std::vector<double> measured_pulse, measured_replayed,
      measured_mean;  ///< the laboratory's record that the device was fitted to, in S
  std::vector<double> cycle_pulses, low, low_std, high, high_std;  ///< endurance, in S
  std::vector<double> time, target, exponent;                      ///< drift: s, S, 1
  Matrix<double> drifted, drifted_std;                             ///< (levels, times), in S
  std::vector<double> deviation, share;                            ///< histogram of the reads
  std::vector<double> frequency, spectrum;                         ///< Hz, 1/Hz

  bool empty() const { return time.empty() && pulse.empty(); }
};

DevicePictures load_device_pictures(const H5Reader& file);

}  // namespace nudge::report
