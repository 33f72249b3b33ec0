// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "sim/base/matrix.hpp"

namespace nudge {

/// How the T tokens of a sequence, which relax together, use arrays that carry one vector at a time.
enum class TokenUse {
  multiplexed,  ///< one array; the tokens take turns in T slots, sample-and-holds keep what drives it in between
  replicated,   ///< T arrays with devices, errors and writes of their own; token t is read by array t
  shared,       ///< one array carries all T vectors at once at no cost: an idealisation that no circuit has
};

/// The use, and its clock. A slot lasts as long as a read of a relaxation would without sharing, so that noise and heat per
/// read stay what they are and one step of all tokens takes slots() times as long.
struct TokenSpec {
  TokenUse use = TokenUse::shared;
  Index count = 1;         ///< T
  double slot_s = 0;       ///< length of a slot
  double hold_time_s = 0;  ///< time constant with which a held voltage leaks to 0; 0: it does not
  double turn_slots = 0;   ///< slots that a token's turn takes, of the busiest array; 0: not known yet, taken as 1

  Index replicas() const { return use == TokenUse::replicated ? count : 1; }
  Index slots() const { return use == TokenUse::multiplexed ? count : 1; }

  /// What is left of a drive in the last slot of its turn, a round after it was sampled: exp(−(T k − 1) slot/τ_hold), k the slots of
  /// a turn.
  double held_share() const {
    if (slots() == 1 || hold_time_s == 0) return 1;
    const double turn = turn_slots > 0 ? turn_slots : 1;
    return std::exp(-(static_cast<double>(count) * turn - 1) * slot_s / hold_time_s);
  }
};

}  // namespace nudge
