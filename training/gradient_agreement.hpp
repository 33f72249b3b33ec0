// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/language_model.hpp"

namespace nudge {

/// How well an estimated gradient g agrees with a reference r, over one parameter group:
///     cosine = ⟨g, r⟩/(‖g‖ ‖r‖),   relative_l2 = ‖g − r‖/‖r‖,   sign_agreement = share of entries with equal sign
/// (of those where r ≠ 0). Where ‖r‖ = 0: cosine is 1 and relative_l2 0 if g = 0 too, else 0 and infinity. A gradient
/// that is not finite gives NaN.
///
/// Some groups have no gradient but rounding: softmax does not feel the bias of its keys. Given the norm of the whole
/// gradient, a reference below 10 ε of it has no direction to compare: cosine and sign_agreement are 1, relative_l2 is
/// ‖g − r‖ over the whole norm.
struct Agreement {
  double cosine = 0;
  double relative_l2 = 0;
  double sign_agreement = 0;
};

template <class S>
Agreement agreement(ConstMatrixRef<S> estimate, ConstMatrixRef<S> reference, double whole_norm = 0);

template <class S>
Agreement agreement(const Gradient<S>& estimate, const Gradient<S>& reference, const ParameterGroup& group) {
  const auto part = [&group](const Gradient<S>& g) {
    return g[group.parameter].middleCols(group.columns.begin, group.columns.count);
  };
  return agreement<S>(part(estimate), part(reference), reference.norm());
}

/// Over several groups as one vector.
template <class S>
Agreement agreement(const Gradient<S>& estimate, const Gradient<S>& reference,
                    const std::vector<ParameterGroup>& groups);

}  // namespace nudge
