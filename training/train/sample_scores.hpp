// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "training/data/batches.hpp"
#include "training/data/confusion.hpp"

namespace nudge {

/// What the outputs of a network score where its task has a metric: of classes the accuracy and, up to kMostConfused of them, the confusion
/// matrix, of real values their root mean square error.
class SampleScores {
 public:
  explicit SampleScores(bool scored) : scored_(scored) {}

  /// Adds the rows of a batch that count. outputs (T, classes or values), one per example (BatchGradient::outputs).
  template <class S>
  void add(const Batch& batch, const std::vector<Matrix<S>>& outputs);

  /// The score in the metric of the task; nothing before any sample was added.
  std::optional<double> value() const;
  bool of_classes() const { return counted_ > 0; }
  /// Answers that the accuracy is a share of.
  std::int64_t counted() const { return counted_; }
  /// Nothing of values, and of so many classes that nobody could read it: 65536 of them would take 34 GB.
  const std::optional<ConfusionMatrix>& confusion() const { return confusion_; }
  static constexpr Index kMostConfused = 2048;  ///< 32 MB

 private:
  bool scored_;
  std::int64_t right_ = 0, counted_ = 0;  ///< samples of classes
  std::optional<ConfusionMatrix> confusion_;
  double squares_ = 0, numbers_ = 0;
};

}  // namespace nudge
