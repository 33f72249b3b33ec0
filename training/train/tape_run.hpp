// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sim/config/config.hpp"
#include "training/batch/tape_batch.hpp"
#include "training/config/train_options.hpp"
#include "training/learning/optimizer.hpp"
#include "training/models/registry.hpp"
#include "training/train/learning_run.hpp"

namespace nudge {

/// Draws the initial parameters of a training: a pure function of fields and seed.
template <class S>
std::vector<Matrix<S>> initial_parameters(std::span<const Field> fields, std::uint64_t seed);

/// Network on a tape in training, by backprop. Its log has the columns of an EquilibriumRun, except for settling. It also has
/// the measures of its kind (TapeKind::measures) as train/validation_<name> and train/test_<name>. A loss or gradient that is
/// not finite leaves the parameters as they were, and the run is stuck.
template <class S>
class TapeRun final : public LearningRun {
 public:
  TapeRun(const Config& config, const TaskSizes& sizes);

  void step(std::uint64_t step, const Batch& batch) override;
  void evaluate(std::uint64_t done, const std::vector<Batch>& validation) override;
  void evaluate_test(std::uint64_t done, const std::vector<Batch>& test, std::size_t first) override;
  std::string stuck() const override { return stuck_; }
  Index weights() const override;
  void write(H5Document& document, const std::string& prefix) override;
  void restore(const H5Reader& file, const std::string& prefix) override;

  const TapeModel<S>& model() const { return *model_; }
  const std::vector<Matrix<S>>& parameters() const { return parameters_; }

 private:
  struct Evaluation {
    double loss = 0;
    SampleScores scores;
    SampleLosses losses;
    std::vector<double> measured = {};
  };
  Evaluation evaluation(const std::vector<Batch>& batches, std::uint64_t first, bool finished);
  void record_measures(const std::string& part, const std::vector<double>& measured);
  /// State arrays, named by their places in a file.
  std::vector<StateArray<S>> arrays();

  std::string kind_, loss_unit_;
  bool scored_;
  TrainOptions options_;
  std::vector<Measure> measures_;
  std::unique_ptr<TapeModel<S>> model_;
  std::vector<Field> fields_;
  std::vector<Matrix<S>> parameters_;
  std::unique_ptr<Optimizer<S>> optimizer_;
  TapeBatch<S> tapes_;
  Gradient<S> gradient_;
  std::vector<Matrix<S>> deltas_;
  std::string stuck_;
};

/// Makes a run in the precision of the config, whose network.kind is no circuit.
std::unique_ptr<LearningRun> make_tape_run(const Config& config, const TaskSizes& sizes);

}  // namespace nudge
