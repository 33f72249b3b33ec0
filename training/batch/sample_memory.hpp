// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "circuits/linear_map.hpp"
#include "training/data/batches.hpp"

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

}  // namespace nudge
