// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"
#include "training/data/batches.hpp"
#include "training/data/scores.hpp"
#include "training/train/sample_losses.hpp"
#include "training/train/train_log.hpp"

namespace nudge {

/// Score of a network's outputs where its task has a metric. For classes: the accuracy and, up to kMostConfused of
/// them, the confusion matrix. For real values: their root mean square error.
class SampleScores {
 public:
  explicit SampleScores(bool scored) : scored_(scored) {}

  /// Adds the rows of a batch that count. outputs (T, classes or values), one matrix per example
  /// (BatchGradient::outputs).
  template <class S>
  void add(const Batch& batch, const std::vector<Matrix<S>>& outputs);

  /// Score in the metric of the task; nothing before any sample was added.
  std::optional<double> value() const;
  bool of_classes() const { return counted_ > 0; }
  /// Number of answers that the accuracy is a share of.
  std::int64_t counted() const { return counted_; }
  /// Confusion matrix; nothing for real values, and for more than kMostConfused classes, which nobody could read: 65536
  /// would take 34 GB.
  const std::optional<ConfusionMatrix>& confusion() const { return confusion_; }
  static constexpr Index kMostConfused = 2048;  ///< most classes of a confusion matrix: 32 MB

 private:
  bool scored_;
  std::int64_t right_ = 0, counted_ = 0;  ///< right answers, and all counted ones, of classes
  std::optional<ConfusionMatrix> confusion_;
  double squares_ = 0, numbers_ = 0;
};

/// Model in training: everything that a step changes, and its log. It is a network that settles (EquilibriumRun) or a
/// computation on a tape (TapeRun); TrainingLoop drives either.
class LearningRun {
 public:
  /// Makes a run with a log of `log_rows` rows (output.log_rows).
  explicit LearningRun(std::size_t log_rows) : log_(log_rows) {}
  LearningRun(const LearningRun&) = delete;
  LearningRun& operator=(const LearningRun&) = delete;
  virtual ~LearningRun() = default;

  /// Does one training step on a batch. If the caller is Interruptible, the step may be left before it changes anything
  /// that is kept.
  virtual void step(std::uint64_t step, const Batch& batch) = 0;

  /// Evaluates the validation batches, by which choices are made, and logs the result after `done` steps. May be left
  /// (Interruptible) before it logs.
  virtual void evaluate(std::uint64_t done, const std::vector<Batch>& validation) = 0;

  /// Evaluates the test batches and logs the result, once, when the run has ended. Reads draw their noise as batches
  /// `first` and on of an evaluation do.
  virtual void evaluate_test(std::uint64_t done, const std::vector<Batch>& test, std::size_t first) = 0;

  /// Reason why more steps would change nothing; empty: they may.
  virtual std::string stuck() const = 0;

  /// Writes log, parameters and checkpoint below prefix ("", "beside/", "null/").
  virtual void write(H5Document& document, const std::string& prefix) = 0;
  virtual void restore(const H5Reader& file, const std::string& prefix) = 0;

  /// Count of the numbers that it learns; 0: not told.
  virtual Index weights() const { return 0; }

  /// Logs the expected cosine of the first step's gradient (forecast_gradient) and the origin of its nodes' noise, if they are known,
  /// before this step.
  void expect(double cosine, const std::string& noise);
  /// Logs an event before the first step.
  void note(const std::string& what) { log_.event(0, what); }

  /// Losses on a part of the data of the best constant answer (best_constant()). This answer costs the least on the
  /// training batches, in the cost of this run. Empty: not known.
  virtual SampleLosses constant(const std::vector<Batch>& /*training*/, const std::vector<Batch>& /*part*/) const {
    return {};
  }

  const TrainLog& log() const { return log_; }
  /// Losses of each sample in the last evaluation of a part, "validation" or "test"; empty before one.
  const SampleLosses& losses(const std::string& part) const;

 protected:
  /// Logs the cosine of a gradient with the exact one, measured before a step.
  void expect_cosine(std::uint64_t step, double cosine);

  /// Logs an evaluation of a part, "validation" or "test", after `done` steps: its mean loss in a unit and its scores.
  /// Keeps the losses of its samples.
  void record_part(const std::string& part, std::uint64_t done, double loss, const std::string& unit,
                   const SampleScores& scores, SampleLosses losses);
  /// Writes and reads back, whole, the log and the results of the last evaluations.
  void write_log(H5Document& document, const std::string& prefix, const std::string& loss_unit) const;
  void restore_log(const H5Reader& file, const std::string& prefix);

  /// Text on the mean that a loss is, by its unit.
  static std::string cost_text(const std::string& unit, const std::string& where);

  TrainLog log_;

 private:
  std::map<std::string, SampleLosses> losses_;        ///< of validation and test, as last evaluated
  std::map<std::string, ConfusionMatrix> confusion_;  ///< confusion matrices of validation and test, as last evaluated
};

}  // namespace nudge
