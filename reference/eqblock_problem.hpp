// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/held_network.hpp"
#include "sim/io/h5_reader.hpp"
#include "training/models/block/block_plan.hpp"

namespace nudge {

/// Inputs of an eqblock case (the cases' README.md), checked.
struct EqblockProblem {
  /// Reads and checks a case. UserError naming the file and the dataset or attribute.
  explicit EqblockProblem(const H5Reader& file);

  /// Makes the block with the case's weights and sequences, and a gain s of the non-conservative force.
  HeldNetwork network(double s) const;
  EstimatorOptions options() const;  ///< options from T1, T2, eps, and β per token

  ModelShape shape;
  int free_steps = 0, nudged_steps = 0;
  double gain = 0, damping = 0, step = 0, beta = 0, clip = 0;
  Batch batch;
  States z0, v, w;
  std::vector<Matrix<double>> weights;  ///< weights by parameter number
};

}  // namespace nudge
