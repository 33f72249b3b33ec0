// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "circuits/linear_map.hpp"
#include "training/data/batches.hpp"

namespace nudge {

/// What a training keeps of every sample of the training part from one visit to the next: free states (relaxation.persistent_states) and what
/// an estimator keeps (GradientEstimator::keeps()), side by side. Grows as samples are met; all of it is in checkpoints.
template <class S>
class SampleMemory {
 public:
  /// `columns` numbers a sample.
  explicit SampleMemory(Index columns) : kept_(Matrix<S>::Zero(1, columns)), visits_(Matrix<S>::Zero(1, 1)) {}

  Index columns() const { return kept_.cols(); }

  /// Row r ← what is kept of sample samples[r], 0 where it was not there before (visited[r] = 0) or is none (−1).
  void recall(std::span<const std::int64_t> samples, Matrix<S>& rows, std::vector<char>& visited) const;
  /// The same of the rows of an example. UserError: the samples of its task have no numbers.
  void recall(const Batch& batch, Index example, Matrix<S>& rows, std::vector<char>& visited) const;

  /// Keeps the rows. Of a sample that stands twice the later one stays.
  void remember(std::span<const std::int64_t> samples, const Matrix<S>& rows);

  /// Makes room for samples 0 … count − 1, before a checkpoint is read.
  void resize(Index count);

  std::vector<StateArray<S>> arrays();

 private:
  Matrix<S> kept_, visits_;
};

}  // namespace nudge
