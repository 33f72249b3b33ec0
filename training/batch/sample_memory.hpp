// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "circuits/linear_map.hpp"
#include "training/data/batches.hpp"
#include "training/learning/estimators/estimator.hpp"
#include "training/learning/gradient.hpp"

namespace nudge {

/// Numbers kept of every training sample from one visit to the next: free states (relaxation.persistent_states) and an
/// estimator's own numbers (GradientEstimator::keeps()), side by side. Grows as samples are met; checkpoints hold all
/// of it.
template <class S>
class SampleMemory {
 public:
  /// Empty memory with `columns` numbers for each sample.
  explicit SampleMemory(Index columns) : kept_(Matrix<S>::Zero(1, columns)), visits_(Matrix<S>::Zero(1, 1)) {}

  Index columns() const { return kept_.cols(); }

  /// Sets row r to the numbers of sample samples[r]. A sample that was never visited, or −1, gives zeros and visited[r]
  /// = 0.
  void recall(std::span<const std::int64_t> samples, Matrix<S>& rows, std::vector<char>& visited) const;
  /// Recalls the numbers of the rows of an example. UserError: the task does not number its samples.
  void recall(const Batch& batch, Index example, Matrix<S>& rows, std::vector<char>& visited) const;

  /// Keeps the rows. If a sample stands twice, its later row stays.
  void remember(std::span<const std::int64_t> samples, const Matrix<S>& rows);

  /// Makes room for samples 0 … count − 1, before a checkpoint is read.
  void resize(Index count);

  std::vector<StateArray<S>> arrays();

 private:
  Matrix<S> kept_, visits_;
};

/// Matrices that an estimator keeps of every parameter from batch to batch (GradientEstimator::parameter_matrices()).
template <class S>
class ParameterMemory {
 public:
  /// Empty memory with `each` matrices for every parameter.
  ParameterMemory(std::span<const ParameterShape> shapes, Index each);

  /// Finishes the gradient of a batch, parameter by parameter (GradientEstimator::finish()).
  void finish(GradientEstimator<S>& estimator, Gradient<S>& gradient);

  /// `names`: of the parameters, in their order.
  std::vector<StateArray<S>> arrays(const std::vector<std::string>& names);

 private:
  std::vector<std::vector<Matrix<S>>> kept_;
  Matrix<S> batches_;  ///< (1, 1): number of batches finished
};

}  // namespace nudge
