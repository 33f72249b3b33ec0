// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mixers/ops/decaying_memory.hpp"

namespace nudge {

/// What a mixer with an O(T) prior carries from one piece of a sequence to the next: evaluating pieces one after the
/// other with the same streams gives the rows that the whole sequence gives, for any split, in memory that does not
/// grow. Starts empty.
template <class S>
struct Streams {
  Index position = 0;        ///< tokens taken in
  DecayingMemory<S> memory;  ///< of the prior
  Matrix<S> conditioner;     ///< state of the time-decay conditioner (1, Hc)
};

}  // namespace nudge
