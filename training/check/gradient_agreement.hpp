// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "training/batch/batch_gradient.hpp"
#include "training/learning/gradient.hpp"
#include "training/models/network_plan.hpp"

namespace nudge {

/// Whose gradient is called exact.
enum class Truth {
  circuit,  ///< the circuit that is simulated, without fresh noise and rounding: curves, gains, offsets, saturation; of what
            ///< its devices hold, through their wires
  device,  ///< the weights that the lines see, in ideal circuits
};

/// The same network in double with exact maps (LinearMap::noise_free, or its weights as numbers): what every reference is
/// computed on, so that a check in float is not one float number against another.
template <class S>
std::unique_ptr<Network<double>> exact_copy(const Network<S>& network, Truth truth);

/// How well the reference itself is known.
struct ReferenceFacts {
  SettleSolver solver =
      SettleSolver::euler;  ///< that settled the free phase: euler, or newton_gmres where euler did not get there
  std::string adjoint;      ///< implicit_dense or implicit (GMRES)
  int sequences = 0;
  int settled = 0;              ///< sequences with ‖F‖/‖z‖ ≤ gradcheck.settle_tolerance
  int solved = 0;               ///< sequences whose adjoint met gradcheck.adjoint_tolerance
  double residual = 0;          ///< largest ‖F‖/‖z‖
  double adjoint_residual = 0;  ///< largest ‖Jᵀa + ∂C/∂z‖/‖∂C/∂z‖; 0 for the dense solve
  bool converged() const { return settled == sequences && solved == sequences; }
};

/// The exact gradient of a batch's mean cost at the fixed point F(z*) = 0, and those fixed points.
struct Reference {
  Gradient<double> gradient;
  std::vector<Matrix<double>> states;  ///< (rows, cols) per sequence
  ReferenceFacts facts;
};

/// Options of a noise-free free phase that goes on until gradcheck.settle_tolerance, and of the exact adjoint solve there:
/// dense up to 512 unknowns
/// (elements of a state), else GMRES. `step` is ε.
BatchGradientOptions fixed_point_options(const Config& config, Index unknowns, SettleSolver solver, double step);

/// Settles every sequence by Euler steps; where one of them does not get there, all again by newton_gmres (which knows no box:
/// not where a node is bounded), and the better of the two counts. Then solves J_F(z*)ᵀ a = −∂C/∂z and correlates ⟨a, ∂F/∂θ⟩ (implicit function theorem).
Reference reference_gradient(const Config& config, const Network<double>& network, double step, const Batch& batch);

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
