// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "training/learning/optimizer.hpp"
#include "training/learning/schedule.hpp"
#include "training/tapes/tape_model.hpp"
#include "training/train/learner.hpp"

namespace nudge {

/// How a model on tapes is learned: AdamW over schedule.steps steps.
struct TapeLearnerOptions {
  Schedule schedule;
  OptimizerOptions adam;
  double weight_decay = 0;   ///< λ ≥ 0, decoupled
  double gradient_clip = 0;  ///< norm that a larger gradient is scaled to; 0: off
  std::uint64_t seed = 1;    ///< of the initial parameters
  int threads = 0;
  std::size_t log_rows = 10000;
};

/// Parameters that training starts from: a pure function of fields and seed.
template <class S>
std::vector<Matrix<S>> initial_parameters(std::span<const Field> fields, std::uint64_t seed);

/// A model on tapes in training. Logs `step` and `loss` (mean over the batch, before the step), `validation_step` and the
/// measures, the first of which is in the unit of the loss. A loss or gradient that is not finite leaves the parameters as
/// they were, and it is stuck.
template <class S>
class TapeLearner final : public Learner {
 public:
  TapeLearner(std::unique_ptr<TapeModel<S>> model, std::vector<Measure> measures, const TapeLearnerOptions& options);

  void step(std::uint64_t step, const Batch& batch) override;
  void evaluate(std::uint64_t done, const std::vector<Batch>& validation) override;
  void evaluate_test(std::uint64_t /*done*/, const std::vector<Batch>& /*test*/, std::size_t /*first*/) override {}
  std::string stuck() const override { return stuck_; }
  void write(H5Document& document, const std::string& prefix) override;
  void restore(const H5Reader& file, const std::string& prefix) override;

  const std::vector<Matrix<S>>& parameters() const { return parameters_; }

 private:
  std::vector<StateArray<S>> arrays();

  std::unique_ptr<TapeModel<S>> model_;
  std::vector<Measure> measures_;
  TapeLearnerOptions options_;
  std::vector<Field> fields_;
  std::vector<Matrix<S>> parameters_;
  std::unique_ptr<Optimizer<S>> adam_;
  TapeBatch<S> tapes_;
  Gradient<S> gradient_;
  std::vector<Matrix<S>> deltas_;
  std::string stuck_;
};

}  // namespace nudge
