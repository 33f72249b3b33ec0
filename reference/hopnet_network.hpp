// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "circuits/circuit_dynamics.hpp"
#include "circuits/linear_map.hpp"
#include "reference/hopnet_problem.hpp"
#include "training/learning/cross_entropy.hpp"
#include "training/learning/squared_error.hpp"

namespace nudge {

/// What a nudged phase of a network whose force is no gradient adds to it (NETWORKS.md, section 1.5); plain: nothing.
enum class HopnetLaw { plain, aep, transposed };

/// The network of a case and its cost, moved from sample to sample; one row per sample.
class HopnetNetwork {
 public:
  explicit HopnetNetwork(const HopnetProblem& problem);

  void bind(Index sample);

  CircuitDynamics<double>& dynamics() { return *settles_; }
  Cost<double>& cost();
  Matrix<double> logits(const Matrix<double>& z);
  Matrix<double> cost_gradient(const Matrix<double>& z);
  /// h at z, without the states' own leak and ρ'.
  Matrix<double> drive(const Matrix<double>& z);

  /// J₀ of the laws aep and transposed is taken here, at z*.
  void freeze(const Matrix<double>& z);
  /// The fixed point of law(z) − β ∂C/∂z(z), projected where there is a box, that relaxation reaches from `start`: Euler steps of
  /// the case until they nearly rest, then Newton's on the units that can move. NumericalFailure naming `what` where they do not
  /// settle, or where the fixed point is none that attracts (β without a minimum).
  Matrix<double> settle(const Matrix<double>& start, HopnetLaw law, double beta, const std::string& what);

 private:
  Matrix<double> force(const Matrix<double>& z, HopnetLaw law, double beta);
  Matrix<double> jacobian(const Matrix<double>& z, HopnetLaw law, double beta);
  Matrix<double> dense_jacobian(const Matrix<double>& z);
  Matrix<double> cost_curvature(const Matrix<double>& z);
  double relax(Matrix<double>& z, HopnetLaw law, double beta);
  void newton(Matrix<double>& z, HopnetLaw law, double beta, const std::string& what);

  const HopnetProblem& p_;
  HopfieldPlan plan_;
  Maps<double> maps_;
  std::vector<std::unique_ptr<Circuit<double>>> circuits_;  ///< as it is, without its box, and with ρ = identity too
  std::vector<std::unique_ptr<CircuitDynamics<double>>> each_;
  CircuitDynamics<double>*settles_, *unbounded_, *linear_;
  Columns output_;
  SquaredError<double> squared_error_;
  std::unique_ptr<CrossEntropyReadout<double>> cross_entropy_;
  Index sample_ = 0;
  Matrix<double> fixed_, frozen_;  ///< z*, J₀
};

}  // namespace nudge
