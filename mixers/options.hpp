// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/matrix.hpp"

namespace nudge {

/// Where the time-decay conditioner acts on the gates of the Free Energy Mixer.
enum class Modulation {
  none,    ///< no conditioner
  before,  ///< on their pre-activations (default of the published code; keeps λ in [0, 1])
  after,   ///< on λ and g themselves, as printed in the paper's eqs. H.5 and 34d
};

/// Sizes and fixed numbers of all mixers; each kind reads those it names in its documentation.
struct MixerOptions {
  Index width = 8;  ///< channels of the state
  Index heads = 2;
  Index head_width = 4;  ///< of queries, keys and values of one head
  Index key_value_heads =
      0;                     ///< of mha, momen, nag, *_stack: G heads of keys and values, each for H/G of queries; 0: H
  double temperature = 1.3;  ///< T > 0 of the energies and of MHA2nd and LightMHA2nd
  double eta = 0.5;          ///< step size of gd_*, loop_*, mha2nd, light2nd
  double ridge = 0.1;        ///< ε > 0 of light2nd
  int iterations = 5;        ///< of loop_*
  bool refresh = true;       ///< loop_*: the attended tokens move along (Algorithm 2); else they stay at the start
  int layers = 2;            ///< of *_stack
  double momentum_start = 0.9;  ///< beta of momen, nag and *_stack before learning (Intrinsic Optimizers, section 3.1)
  bool observe = false;         ///< record quantities to log

  // Free Energy Mixer
  Index values = 4;        ///< d, channels that are read
  Index keys = 8;          ///< columns of W_q and W_k: heads times the head's key width
  Index decays = 2;        ///< columns of W_dec: gla 1 per head, 1 per feature (keys) or 0: none, lrnn one per group
  Index groups = 1;        ///< aft: columns of W_k
  Index states = 3;        ///< N of the state-space priors
  bool rope = false;       ///< rotary positions: attention and the softmax prior (gla always has them)
  double epsilon = 1e-6;   ///< added to gla's features
  bool quadratic = false;  ///< gla with decays per head or none: as T x T products, faster for short sequences
  Index gate_groups = 1;   ///< groups of the RMS norm of the outer gate
  Modulation modulation = Modulation::none;
  Index hidden = 3;           ///< Hc of the time-decay conditioner
  double hidden_scale = 1.0;  ///< factor of its unit-norm gate: 1 (paper) or √Hc (published code)
  Index conditioned = 5;      ///< output columns of the conditioner alone (kind tdc)
  bool log_sum_exp = true;    ///< ablation L: the branch F; without it μ is read alone
  bool inner_gate = true;     ///< ablation T: the learned λ between μ and F; without it λ = 1
  bool outer_gate = true;     ///< ablation G: the gate g
};

}  // namespace nudge
