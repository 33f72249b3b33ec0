// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "training/data/batches.hpp"
#include "training/models/network.hpp"

namespace nudge {

/// How many equilibria a network with an energy has: where it settles from elsewhere.
struct MultistabilityReport {
  int sequences = 0, starts = 0;  ///< 0: not asked for
  double settled = 0;             ///< share of the starts whose force vanished
  double same = 0;    ///< of these, how many ended in the state that the free phase ends in, by their energy
  double lower = 0;   ///< and how many in one of less energy
  double states = 0;  ///< different energies that a sample was found in, the free phase's among them, mean over samples
};

/// From starts uniform in [−π, π] in every unit, all phases of an oscillator. `states`: equilibria (rows, cols) of the batch's sequences;
/// `step`: ε. At most four sequences, each of their rows a sample where rows are independent. Energies are the same within 1e-6 of what the
/// energy of the states that were found ranges over, and 1e-9. UserError for a network without an energy.
MultistabilityReport measure_multistability(const Network<double>& network, const Batch& batch,
                                            const std::vector<Matrix<double>>& states, double step, int starts,
                                            std::uint64_t seed, int threads);

}  // namespace nudge
