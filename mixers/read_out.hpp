// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mixers/tape.hpp"

namespace nudge {

/// Logits (T, V) of x (T, D) through the table of tokens (V, D) itself, x emb'/√D, in place of a matrix of its own (Press and Wolf,
/// arXiv:1608.05859). The factor gives rows of unit variance the logits that an untied read N(0, 1/D) starts with.
template <class S>
Value<S> tied_read(Value<S> x, Value<S> table);

}  // namespace nudge
