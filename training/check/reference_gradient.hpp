// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "training/batch/batch_gradient.hpp"

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

}  // namespace nudge
