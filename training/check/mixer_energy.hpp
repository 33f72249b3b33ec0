// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/io/h5_document.hpp"

namespace nudge {

/// Kinds of mixers/registry that map states to states and have a free energy: they observe "energy".
const std::vector<std::string>& energy_mixers();

/// The free energy F* of each token along iterations of an attention step (Ren et al., "Transformers as Intrinsic
/// Optimizers", appendix A.1), n = 0 .. N: before step n + 1.
struct MixerEnergy {
  std::string mixer;
  Index sequences = 0, tokens = 0;
  std::vector<std::vector<double>> energy;  ///< [n][sequence·tokens + token]
  std::vector<double> mean;                 ///< [n] over all tokens
  std::vector<double> largest_rise;         ///< [n] of one token against n − 1 (negative: all fell); NaN at 0
  std::vector<double> share_risen;          ///< [n] of the tokens; NaN at 0

  bool finite() const;
};

/// Iterates the mixer of model.mixer, with the initial weights, mixer.iterations times from the embedded tokens x_in of
/// train.batch windows of the validation text: z ← Mixer(z), which with mixer.refresh moves the attended tokens along
/// (Algorithm 2; the only form of kinds other than loop_*). UserError for a mixer without an energy.
MixerEnergy mixer_energy(const Config& config);

/// /energy (iteration, sequence, token), /mean, /largest_rise, /share_risen.
void write(H5Document& document, const MixerEnergy& trace);

}  // namespace nudge
