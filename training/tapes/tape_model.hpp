// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "training/tapes/tape_batch.hpp"

namespace nudge {

/// A number that a trained model is measured by.
struct Measure {
  std::string name, unit, description;
};

/// A model that is a computation on a tape, with the loss that it is trained on.
template <class S>
class TapeModel {
 public:
  virtual ~TapeModel() = default;

  /// Parameters with what they start from.
  virtual std::vector<Field> fields() const = 0;
  /// The model on one example; the parameters, in the order of fields(), outlive the tape. Called from several threads.
  virtual std::unique_ptr<ExampleTape<S>> record(const std::vector<Matrix<S>>& parameters) const = 0;
  /// What it is measured by on held-out batches, in the order of the experiment's measures; NaN where one is taken only of
  /// the finished model.
  enum class When { underway, finished };
  virtual std::vector<double> evaluate(TapeBatch<S>& tapes, const std::vector<Batch>& batches,
                                       const std::vector<Matrix<S>>& parameters, When when) const = 0;
};

}  // namespace nudge
