// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace nudge {

/// The mean of n differences d_s = x_s − y_s of runs with the same seed (so the same initial weights and batches), with
/// its two-sided 95 % interval
///     mean ± t(0.975, n − 1) · deviation/√n
/// of Student's t (Student, Biometrika 6 (1908) 1): right for normal differences of seeds drawn independently. One
/// difference has no interval: low and high are then −∞ and +∞. Nothing: mean NaN.
struct PairedDifference {
  int seeds = 0;
  double mean = 0, deviation = 0;  ///< deviation: of the differences, n − 1
  double low = 0, high = 0;
};

/// Of two lists in the order of the seeds; a seed for which one of them is not finite is left out.
PairedDifference paired_difference(const std::vector<double>& values, const std::vector<double>& baseline);

}  // namespace nudge
