// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Place of the random numbers of pulse trains: sample n of a count takes the numbers at place `first` + n.
struct TrainStream {
  std::uint64_t seed = 0;
  std::uint32_t entity = 0;  ///< number of the array
  std::uint64_t number = 0;  ///< number of the operation on the array
  std::uint32_t first = 0;
};

struct TrainReport {
  std::uint64_t samples = 0;
  std::uint64_t clipped = 0;  ///< samples whose largest entries need a probability above 1: they update too little
  std::uint64_t slots = 0;    ///< sum of the train lengths: time of the update
  TrainReport& operator+=(const TrainReport& other) {
    samples += other.samples;
    clipped += other.clipped;
    slots += other.slots;
    return *this;
  }
};

/// Stochastic coincidence pulse trains (Gokmen and Vlasov, Front. Neurosci. 10:333 (2016), doi:10.3389/fnins.2016.00333).
/// For each sample, row i fires in each of BL slots with probability p_i = min(1, A |x_i|) and column j with q_j = min(1,
/// B |y_j|), all independent. Where both fire in a slot the device (i, j) gets one pulse, up if c x_i y_j > 0 and down if
/// it is negative. The devices of a row share its train, and so do the devices of a column. Pulses of one row are
/// therefore correlated, as in an array. With A B BL = |c| the mean number of pulses is |c x_i y_j| wherever no
/// probability is cut at 1. Management of the update: A max|x| = B max|y|, so that neither side is cut before the other
/// (Gokmen, Onen and Haensch, Front. Neurosci. 11:538 (2017), doi:10.3389/fnins.2017.00538). BL is the smallest length
/// for which nothing is cut, up to max_length. Probabilities are resolved to 2⁻²⁴.
///
/// Adds the numbers of pulses of all samples to up and down. x (n, rows), y (n, columns), up and down (rows, columns); 1
/// ≤ max_length ≤ 64. The result does not depend on threads. A sample that is not finite makes the counts it reaches NaN.
template <class S>
TrainReport count_coincidences(ConstMatrixRef<S> x, ConstMatrixRef<S> y, double c, int max_length,
                               const TrainStream& stream, int threads, MatrixRef<S> up, MatrixRef<S> down);

}  // namespace nudge
