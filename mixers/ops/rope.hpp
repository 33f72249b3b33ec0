// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mixers/tape.hpp"

namespace nudge {

/// Which two columns of a block of m are a pair: (2j, 2j+1), or (j, j + m/2) as the published code of many language models
/// has it. The two differ by a permutation of the columns.
enum class RotaryPairs { adjacent, halves };

/// Rotary positions: in each of `heads` blocks of m columns, pair j of row t is turned by the angle
/// (first_position + t)·10000^(−2j/m), so that products of rows depend on the difference of their positions (Su et al.,
/// arXiv:2104.09864, eq. 34): (a, b) → (a cos − b sin, a sin + b cos). UserError unless m is even. The published code of the
/// Free Energy Mixer pairs the columns inconsistently, which is not a rotation; this is.
template <class S>
Value<S> rotate_positions(Value<S> x, Index heads, Index first_position = 0, RotaryPairs pairs = RotaryPairs::adjacent);

}  // namespace nudge
