// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mixers/tape.hpp"

namespace nudge {

/// a b; a (n, m), b (m, k). Where b are weights that are read (Tape::weights), the read of a by their reader.
template <class S>
Value<S> product(Value<S> a, Value<S> b);

/// a bᵀ; a (n, m), b (k, m).
template <class S>
Value<S> product_nt(Value<S> a, Value<S> b);

/// aᵀ b; a (m, n), b (m, k).
template <class S>
Value<S> product_tn(Value<S> a, Value<S> b);

}  // namespace nudge
