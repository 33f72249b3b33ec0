// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mixers/ops/layout.hpp"

namespace nudge {

/// Σ_t −log softmax(logits_t)[target_t], (1, 1), in nats. A target of −1 leaves its token out.
template <class S>
Value<S> cross_entropy(Value<S> logits, std::vector<int> targets);
template <class S>
Value<S> cross_entropy(Value<S> logits, SharedIndices targets);

}  // namespace nudge
