// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mixers/mixer.hpp"

namespace nudge {

/// Rule by which a sub-layer's update U changes the state.
enum class StepRule {
  residual,    ///< x + U(x)
  heavy_ball,  ///< momentum_step() of mixers/attention/gradient_descent.hpp, through mixers and feed-forward parts
  nesterov,    ///< momentum_step() with the look-ahead as printed in the paper
};

/// Sequence mixer as it stands in the blocks of a model, with 4 width² weights (sequence_mixer_names() lists exceptions).
struct SequenceMixer {
  std::string name;
  std::string kind;  ///< name in the mixer registry
  StepRule rule = StepRule::residual;
  MixerOptions options;

  /// The keys of [mixer] that it reads.
  MixerKeys keys() const;
};

/// A size that every kind accepts: one head as wide as the state.
MixerOptions one_head();

/// Names of the sequence mixers, in the order of tables:
///   mha            softmax attention
///   momen, nag     softmax attention with momentum, and Nesterov momentum (two numbers per sub-layer more)
///   light2nd1st    preconditioned attention to first order (a number per head more)
///   fem_softmax_l  Free Energy Mixer without gates: d = D values, queries and keys of D
///   fem_softmax_lt with the inner gate: d = 3D/4, queries and keys of 7D/8
///   fem_softmax_ltg with inner and outer gate, budget (i): d = D/2
///   fem_softmax    the whole mixer: fem_softmax_ltg with the conditioner of D/16 channels, which has weights beyond the budget
///   linear         linear attention, features relu + 1e-6, normalised
///   gla            gated linear attention: decay per head, outer gate, keys D/2 (D decay weights per head more)
///   fem_gla        Free Energy Mixer over gla's prior, budget (i) (D decay weights per head more)
///   mha2nd1st      Newton's step to first order (two numbers per head more); mha2nd1st_nov: without values, 3 width²
///   gd_inner, gd_elastic, loop_inner, loop_elastic  descent of the free energy, once or repeated: 2 width² weights, which are those of
///                  the energy, and no positions
///   deltanet, gated_deltanet, mamba2, hyena, differential  baselines of the Free Energy Mixer's tables: keys D/2 of the second, D/2 states
///                  of the third; short filters, decays and norms of theirs beside the 4 width² weights
///   fem_aft, fem_lrnn, fem_ssmlti, fem_ssmsel  Free Energy Mixers over the other priors with both gates; aft, lrnn, ssmsel: their priors alone
const std::vector<std::string>& sequence_mixer_names();

/// Sequence mixer of this name; UserError naming a width or number of heads that it cannot have. All but gd_* and loop_* have
/// rotary positions.
SequenceMixer sequence_mixer(const std::string& name, Index width, Index heads, Index tokens);

}  // namespace nudge
