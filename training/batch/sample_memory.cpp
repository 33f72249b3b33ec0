// SPDX-License-Identifier: Apache-2.0
#include "training/batch/sample_memory.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
void SampleMemory<S>::recall(std::span<const std::int64_t> samples, Matrix<S>& rows, std::vector<char>& visited) const {
  rows.setZero(static_cast<Index>(samples.size()), columns());
  visited.assign(samples.size(), 0);
  for (std::size_t r = 0; r < samples.size(); ++r) {
    if (samples[r] < 0 || samples[r] >= kept_.rows() || visits_(samples[r], 0) == S(0)) continue;
    visited[r] = 1;
    rows.row(static_cast<Index>(r)) = kept_.row(samples[r]);
  }
}

template <class S>
void SampleMemory<S>::recall(const Batch& batch, Index example, Matrix<S>& rows, std::vector<char>& visited) const {
  if (batch.samples.empty()) {
    throw UserError(
        "relaxation.persistent_states, or an estimator that keeps numbers of samples: this task does not number its "
        "samples. Use task.kind = classification or regression");
  }
  recall(batch.samples_of(example), rows, visited);
}

template <class S>
void SampleMemory<S>::remember(std::span<const std::int64_t> samples, const Matrix<S>& rows) {
  NUDGE_EXPECT(rows.rows() == static_cast<Index>(samples.size()) && rows.cols() == columns());
  if (samples.empty()) return;
  const std::int64_t last = *std::max_element(samples.begin(), samples.end());
  if (last >= kept_.rows()) resize(last + 1);
  for (std::size_t r = 0; r < samples.size(); ++r) {
    if (samples[r] < 0) continue;
    kept_.row(samples[r]) = rows.row(static_cast<Index>(r));
    visits_(samples[r], 0) = S(1);
  }
}

template <class S>
void SampleMemory<S>::resize(Index count) {
  const Index before = kept_.rows();
  kept_.conservativeResize(count, Eigen::NoChange);
  visits_.conservativeResize(count, Eigen::NoChange);
  if (count <= before) return;
  kept_.bottomRows(count - before).setZero();
  visits_.bottomRows(count - before).setZero();
}

template <class S>
std::vector<StateArray<S>> SampleMemory<S>::arrays() {
  return {{"kept", "1", "numbers kept of each sample of the training split since its last visit", &kept_},
          {"visits", "1", "1: the sample was there before", &visits_}};
}

template <class S>
ParameterMemory<S>::ParameterMemory(std::span<const ParameterShape> shapes, Index each)
    : batches_(Matrix<S>::Zero(1, 1)) {
  for (const ParameterShape& shape : shapes) {
    kept_.emplace_back(static_cast<std::size_t>(each), Matrix<S>::Zero(shape.rows, shape.cols));
  }
}

template <class S>
void ParameterMemory<S>::finish(GradientEstimator<S>& estimator, Gradient<S>& gradient) {
  for (int p = 0; p < gradient.size(); ++p) {
    estimator.finish(static_cast<double>(batches_(0, 0)), gradient[p], kept_[static_cast<std::size_t>(p)]);
  }
  batches_(0, 0) += S(1);
}

template <class S>
std::vector<StateArray<S>> ParameterMemory<S>::arrays(const std::vector<std::string>& names) {
  std::vector<StateArray<S>> all{{"batches", "1", "batches whose gradient was finished", &batches_}};
  for (std::size_t p = 0; p < kept_.size(); ++p) {
    for (std::size_t k = 0; k < kept_[p].size(); ++k) {
      all.push_back(
          {names[p] + "/" + std::to_string(k), "1", "kept by the estimator from batch to batch", &kept_[p][k]});
    }
  }
  return all;
}

NUDGE_BOTH_PRECISIONS_OF(SampleMemory)
NUDGE_BOTH_PRECISIONS_OF(ParameterMemory)

}  // namespace nudge
