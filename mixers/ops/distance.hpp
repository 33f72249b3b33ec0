// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mixers/tape.hpp"

namespace nudge {

/// D_ti = ‖q_t − k_i‖²; q (queries, m), k (keys, m).
template <class S>
Value<S> squared_distance(Value<S> q, Value<S> k);

}  // namespace nudge
