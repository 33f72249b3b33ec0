// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mixers/tape.hpp"

namespace nudge {

/// (x − mean)/√(var + ε) of each row, biased variance, no learned scale or shift.
template <class S>
Value<S> layer_norm(Value<S> x, double epsilon = 1e-5);

/// x/√(mean x² + ε) over each of `groups` contiguous blocks of columns of each row, no learned scale.
template <class S>
Value<S> rms_norm(Value<S> x, Index groups = 1, double epsilon = 1e-6);

}  // namespace nudge
