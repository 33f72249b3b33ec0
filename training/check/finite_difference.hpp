// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "training/check/gradient_agreement.hpp"
#include "training/check/reference_gradient.hpp"

namespace nudge {

/// Central differences of the settled cost against the exact gradient, on the entries that were perturbed.
struct FiniteDifferenceReport {
  std::vector<Agreement> groups;  ///< in the order of NetworkPlan::groups()
  Agreement all;                  ///< the equilibrium's parameters as one vector: every group but the read-out
  int entries = 0;                ///< perturbed entries in all groups together
  Index sequences = 0;            ///< sequences of the cost: the first of the batch
  double cost_in_forces = 0;      ///< per sequence, for these entries only
  double residual =
      0;  ///< largest ‖F‖/‖z‖ among the perturbed fixed points; of the unperturbed where there are no entries
  bool settled = true;  ///< every one of them met gradcheck.settle_tolerance
};

/// dC/dθ_ij ≈ (C(θ_ij + h) − C(θ_ij − h))/2h with C at the fixed point, for gradcheck.finite_difference_entries entries
/// per group drawn at random (of tok among the characters that occur), on the first sequences of the batch. Where θ is held by
/// devices one of them is moved (a pair by half of h each), and what their lines see follows, through wires by a new solve. Uses
/// nothing of the estimators' code but the force and the cost: an independent check of the exact adjoint. `step` is ε. No
/// entries where the fixed point itself is not reached: each would go on for all its steps, twice, and compare costs of no
/// equilibrium.
FiniteDifferenceReport compare_finite_differences(const Config& config, const Network<double>& network, double step,
                                                  const Batch& batch);

}  // namespace nudge
