// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/io/h5_document.hpp"

namespace nudge {

/// Names of the mixers (mixers/registry) that map states to states and have a free energy: they observe "energy".
const std::vector<std::string>& energy_mixers();

/// Free energy F* of each token along iterations of an attention step (Ren et al., "Transformers as Intrinsic
/// Optimizers", appendix A.1), n = 0 .. N: before step n + 1.
struct MixerEnergy {
  std::string mixer;
  Index sequences = 0, tokens = 0;
  std::vector<std::vector<double>> energy;  ///< [n][sequence·tokens + token]
  std::vector<double> mean;                 ///< [n], mean over all tokens
  std::vector<double> largest_rise;  ///< [n], largest rise of one token against n − 1 (negative: all fell); NaN at 0
  std::vector<double> share_risen;   ///< [n], share of the tokens whose energy rose; NaN at 0

  bool finite() const;
};

/// Iterates z ← Mixer(z), mixer.iterations times, with the mixer of model.mixer at its initial weights. Starts from the
/// embedded tokens x_in of train.batch windows of the validation text. mixer.refresh moves the attended tokens along
/// (Algorithm 2). Kinds other than loop_* have this form alone. UserError for a mixer without an energy.
MixerEnergy mixer_energy(const Config& config);

/// Writes /energy (iteration, sequence, token), /mean, /largest_rise, /share_risen.
void write(H5Document& document, const MixerEnergy& trace);

}  // namespace nudge
