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

/// Model whose gradient counts as exact.
enum class ExactSystem {
  /// The simulated circuit without fresh noise and rounding: curves, gains, offsets, saturation, and weights as its
  /// devices hold them, seen through their wires.
  circuit,
  device,  ///< ideal circuits with the weights that the lines see
};

/// Copies a network in double with exact maps (LinearMap::noise_free, or its weights as numbers). All references are
/// computed on it, so that a check in float does not compare one float number with another.
template <class S>
std::unique_ptr<Network<double>> exact_copy(const Network<S>& network, ExactSystem truth);

/// Accuracy of the reference itself.
struct ReferenceFacts {
  SettleSolver solver =
      SettleSolver::euler;  ///< solver of the free phase: euler, or newton_gmres where euler did not converge
  std::string adjoint;      ///< solver of the adjoint: implicit_dense or implicit (GMRES)
  int sequences = 0;
  int settled = 0;              ///< sequences with ‖F‖/‖z‖ ≤ gradcheck.settle_tolerance
  int solved = 0;               ///< sequences whose adjoint met gradcheck.adjoint_tolerance
  double residual = 0;          ///< largest ‖F‖/‖z‖
  double adjoint_residual = 0;  ///< largest ‖Jᵀa + ∂C/∂z‖/‖∂C/∂z‖; 0 for the dense solve
  bool converged() const { return settled == sequences && solved == sequences; }
};

/// Exact gradient of a batch's mean cost at the states where its free phases end, with these states.
struct Reference {
  Gradient<double> gradient;
  std::vector<Matrix<double>> states;  ///< (rows, cols) per sequence
  ReferenceFacts facts;
  BatchReport report;
};

/// Exact gradient. Settles a batch by the free phase of `options` and differentiates there with their estimator, which solves for the
/// adjoint. This is the only road to an exact gradient. Reads draw the numbers of `step`.
Reference exact_gradient(const Network<double>& network, BatchGradientOptions options, const Batch& batch,
                         std::uint64_t step = 0);

/// Options of a noise-free free phase until gradcheck.settle_tolerance, and of the exact adjoint solve at its end. The
/// solve is dense up to 512 `unknowns` (elements of a state), else GMRES. `step` is ε.
BatchGradientOptions fixed_point_options(const Config& config, Index unknowns, SettleSolver solver, double step);

/// Computes the exact gradient. Settles every sequence by Euler steps. If one does not converge, settles all again by
/// newton_gmres, and the better of the two counts. newton_gmres knows no box, so it is not tried where a node is
/// bounded. Then solves J_F(z*)ᵀ a = −∂C/∂z and correlates ⟨a, ∂F/∂θ⟩ (implicit function theorem).
Reference reference_gradient(const Config& config, const Network<double>& network, double step, const Batch& batch);

/// Agreement of an estimated gradient g with a reference r, over one parameter group:
///     cosine = ⟨g, r⟩/(‖g‖ ‖r‖),   relative_l2 = ‖g − r‖/‖r‖,   sign_agreement = share of entries with equal sign
/// (of those where r ≠ 0). A gradient that is not finite gives NaN for all three.
///
/// A group without gradient has no direction to agree with. This holds for ‖r‖ = 0 (W_q … W_o at attention gain 0).
/// Given the norm of the whole gradient, it also holds below 10 ε of this norm: such a gradient is rounding alone.
/// (Softmax does not feel the bias of its keys.) Then has_gradient is false. cosine and sign_agreement are NaN: null in
/// JSON, a dash in tables, left out of every mean. relative_l2 is then ‖g − r‖ over the whole norm, or ‖g‖ itself if
/// the norm is 0 or unknown.
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

/// Agreement over several groups as one vector; groups without gradient as above, against the norm of the whole
/// reference.
template <class S>
Agreement agreement(const Gradient<S>& estimate, const Gradient<S>& reference,
                    const std::vector<ParameterGroup>& groups);

/// Report of central differences of the settled cost against the exact gradient, on the entries that were perturbed.
struct FiniteDifferenceReport {
  std::vector<Agreement> groups;  ///< one for each group, in the order of NetworkPlan::groups()
  Agreement all;              ///< agreement of the equilibrium's parameters as one vector: every group but the read-out
  int entries = 0;            ///< perturbed entries in all groups together
  Index sequences = 0;        ///< number of sequences in the cost: the first of the batch
  double cost_in_forces = 0;  ///< force evaluations per sequence, for these entries only
  double residual = 0;  ///< largest ‖F‖/‖z‖ of the perturbed fixed points; without entries: of the unperturbed ones
  bool settled = true;  ///< all these fixed points met gradcheck.settle_tolerance
};

/// Compares with finite differences dC/dθ_ij ≈ (C(θ_ij + h) − C(θ_ij − h))/2h, with C at the fixed point. Draws
/// gradcheck.finite_difference_entries entries per group at random (of tok among the characters that occur), and uses
/// the first sequences of the batch. Where devices hold θ, one of them is moved (a pair by half of h each). The weights
/// that their lines see follow, through wires by a new solve. It uses only the force and the cost of the estimators'
/// code, so it is an independent check of the exact adjoint. `step` is ε. No entries are drawn where the fixed point
/// itself is not reached. Each would run all its steps twice and compare costs of no equilibrium.
FiniteDifferenceReport compare_finite_differences(const Config& config, const Network<double>& network, double step,
                                                  const Batch& batch);

}  // namespace nudge
