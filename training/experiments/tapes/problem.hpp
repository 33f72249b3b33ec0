// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "training/experiments/tapes/tape_batch.hpp"

namespace nudge {

/// A number that a trained model is measured by.
struct Measure {
  std::string name, unit, description;
};

/// A task together with the model that learns it.
template <class S>
class Problem {
 public:
  virtual ~Problem() = default;

  /// Parameters with what they start from.
  virtual std::vector<Field> fields() const = 0;
  /// The model on one example; the parameters, in the order of fields(), outlive the tape. Called from several threads.
  virtual std::unique_ptr<ExampleTape<S>> record(const std::vector<Matrix<S>>& parameters) const = 0;
  /// Examples of a training step.
  virtual std::vector<Example> batch(std::uint64_t step) const = 0;
  /// The measures, in the order of the task; NaN where one is taken only of the finished model.
  enum class When { underway, finished };
  virtual std::vector<double> evaluate(TapeBatch<S>& tapes, const std::vector<Matrix<S>>& parameters,
                                       When when) const = 0;
};

}  // namespace nudge
