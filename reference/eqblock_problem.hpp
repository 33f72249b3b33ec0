// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/io/h5_reader.hpp"
#include "training/learning/cross_entropy.hpp"
#include "training/learning/estimators/estimator.hpp"
#include "training/models/block/block_plan.hpp"

namespace nudge {

/// Inputs of an eqblock case and the machinery to run one phase after the other over its sequences.
struct EqblockProblem {
  explicit EqblockProblem(const H5Reader& file);

  /// The same inputs with another gain s of the non-conservative force.
  void set_gain(double s);

  /// Per-sequence states stacked as (B·T, C), the layout of the datasets [B, T, C].
  using States = Matrix<double>;

  /// What an estimator gave from the given initial states.
  struct Estimate {
    States z_star, point, adjoint;  ///< adjoint of the MEAN cost
    Gradient<double> gradient;
    std::vector<States> nudged;  ///< per copy, where the estimator keeps them
  };

  /// Runs an estimator over all sequences from `start`. `keep` reads the nudged states of the last sequence (k·T, C).
  Estimate run(GradientEstimator<double>& estimator, const States& start,
               const Matrix<double>& (*keep)(const GradientEstimator<double>&) = nullptr);

  /// Moves the dynamics and the cost to a sequence.
  void bind(Index sequence);
  Index rows() const { return batch * shape.tokens; }
  EstimatorOptions options() const;  ///< T1, T2, eps, β per token

  ModelShape shape;
  Index batch = 0;
  int free_steps = 0, nudged_steps = 0;
  double gain = 0, damping = 0, step = 0, beta = 0, clip = 0;
  std::vector<int> indices, targets;
  States z0, v, w, x_in;
  std::vector<Matrix<double>> weights;  ///< by parameter number
  std::unique_ptr<Network<double>> model;
  std::unique_ptr<CircuitDynamics<double>> dynamics;
  std::unique_ptr<CrossEntropyReadout<double>> cost;
};

}  // namespace nudge
