// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/gradient.hpp"
#include "training/models/parameter.hpp"

namespace nudge {

/// How well an estimated gradient g agrees with a reference r, over one parameter group:
///     cosine = ⟨g, r⟩/(‖g‖ ‖r‖),   relative_l2 = ‖g − r‖/‖r‖,   sign_agreement = share of entries with equal sign
/// (of those where r ≠ 0). A gradient that is not finite gives NaN for all three.
///
/// A group without gradient has no direction to agree with: ‖r‖ = 0 (W_q … W_o at attention gain 0), or, given the norm of
/// the whole gradient, below 10 ε of it: rounding alone (softmax does not feel the bias of its keys). has_gradient is
/// then false, cosine and sign_agreement are NaN ("empty": null in JSON, a dash in tables, left out of every mean), and
/// relative_l2 is ‖g − r‖ over the whole norm (‖g‖ itself where that is 0 or unknown).
struct Agreement {
  double cosine = 0;
  double relative_l2 = 0;
  double sign_agreement = 0;
  bool has_gradient = true;
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

/// Over several groups as one vector; sets without gradient as above, against the whole reference.
template <class S>
Agreement agreement(const Gradient<S>& estimate, const Gradient<S>& reference,
                    const std::vector<ParameterGroup>& groups);

}  // namespace nudge
