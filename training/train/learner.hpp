// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "training/data/batches.hpp"
#include "training/data/confusion.hpp"
#include "training/train/example_losses.hpp"
#include "training/train/sample_scores.hpp"
#include "training/train/train_log.hpp"

namespace nudge {

/// A model in training: everything that a step changes, and its log. A network that settles (Trainee) or a computation on a
/// tape (TapeLearner); TrainingLoop drives either.
class Learner {
 public:
  /// `log_rows`: of the log (output.log_rows).
  explicit Learner(std::size_t log_rows) : log_(log_rows) {}
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;
  virtual ~Learner() = default;

  /// One training step on its batch. Where the caller is Stoppable it may be left until something that is kept has changed.
  virtual void step(std::uint64_t step, const Batch& batch) = 0;

  /// What choices are made by: the validation batches, logged after `done` steps. May be left (Stoppable) before it logs.
  virtual void evaluate(std::uint64_t done, const std::vector<Batch>& validation) = 0;

  /// The batches of the test part, logged once, when the run has ended. Reads draw their noise as batches `first` and on of
  /// an evaluation do.
  virtual void evaluate_test(std::uint64_t done, const std::vector<Batch>& test, std::size_t first) = 0;

  /// Why more steps would change nothing; empty: they may.
  virtual std::string stuck() const = 0;

  /// Log, parameters and checkpoint, below prefix ("", "beside/", "null/").
  virtual void write(H5Document& document, const std::string& prefix) = 0;
  virtual void restore(const H5Reader& file, const std::string& prefix) = 0;

  /// How many numbers it learns; 0: it does not say.
  virtual Index weights() const { return 0; }

  const TrainLog& log() const { return log_; }
  /// What the last evaluation of the validation part found of each example.
  const ExampleLosses& validation_losses() const { return validation_losses_; }

 protected:
  /// Logs an evaluation of a part, "validation" or "test", after `done` steps: its mean loss in a unit and its scores.
  void record_part(const std::string& part, std::uint64_t done, double loss, const std::string& unit,
                   const SampleScores& scores);
  /// The log and what the last evaluations found, to be written and read back whole.
  void write_log(H5Document& document, const std::string& prefix, const std::string& loss_unit) const;
  void restore_log(const H5Reader& file, const std::string& prefix);

  /// What the loss of a unit is a mean of, in words.
  static std::string cost_text(const std::string& unit, const std::string& where);

  TrainLog log_;
  ExampleLosses validation_losses_;

 private:
  std::map<std::string, ConfusionMatrix> confusion_;  ///< of validation and test, as last evaluated
};

}  // namespace nudge
