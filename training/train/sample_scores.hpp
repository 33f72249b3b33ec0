// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "training/data/batches.hpp"
#include "training/data/confusion.hpp"

namespace nudge {

/// What the outputs of a network score on samples: of classification the confusion matrix and its accuracy, of regression the
/// root mean square error of a value. Nothing of text.
class SampleScores {
 public:
  /// Adds the rows of a batch that count. outputs (T, classes or values), one per example (BatchGradient::outputs).
  template <class S>
  void add(const Batch& batch, const std::vector<Matrix<S>>& outputs);

  /// The score in the metric of the task; nothing before any sample was added.
  std::optional<double> value() const;
  const std::optional<ConfusionMatrix>& confusion() const { return confusion_; }

 private:
  std::optional<ConfusionMatrix> confusion_;
  double squares_ = 0, numbers_ = 0;
};

}  // namespace nudge
