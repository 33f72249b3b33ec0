// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "training/data/batches.hpp"
#include "training/data/scores.hpp"
#include "training/data/text_dataset.hpp"

namespace nudge {

/// Sizes of a task; 0 if the task has none. rows: number of rows of an example, the tokens of a sequence or samples
/// side by side. symbols: how many symbols rows are drawn from. features: how many each row has. classes: how many the
/// cost tells apart. values: how many real numbers are fitted.
struct TaskSizes {
  Index rows = 0;
  Index symbols = 0;
  Index classes = 0;
  Index features = 0;
  Index values = 0;
  /// Shape of a row's features: (height, width), (channels, height, width) or (features).
  std::vector<Index> shape = {};
};

/// Numbers and sizes of the batches held out for choices (validation) and for the final test.
struct HeldOutSizes {
  Index validation_batches = 0, validation_size = 0;
  Index test_batches = 0, test_size = 0;
};

/// Held-out sizes of a training: train.evaluation_batches and train.test_batches of train.batch.
HeldOutSizes held_out_sizes(const Config& config);

/// Learning task: deterministic batches of examples with their targets, and the scores of trivial models on them.
/// Batches are for training, for choices (validation) and for the one number that is reported (test). The task knows no
/// network. Batches are pure functions of the config and of the step: a resumed run and any estimator with the same
/// seed see the same ones.
class Task {
 public:
  virtual ~Task() = default;

  virtual TaskSizes sizes() const = 0;

  virtual Batch training(std::uint64_t step) const = 0;
  virtual std::vector<Batch> validation() const = 0;
  /// Batches of the test split; empty: nothing is held out for it.
  virtual std::vector<Batch> test() const = 0;

  /// Number of held-out samples in a row that share data and count as one in an interval. Windows of a text overlap if more are
  /// asked for than it holds. 1: none do.
  virtual Index samples_that_overlap(bool /*test*/) const { return 1; }

  /// Losses of trivial models on a text: chance, and counting. Nothing where none is known.
  virtual std::optional<TextLines> lines() const { return std::nullopt; }
  /// Scores of trivial models on samples with classes or real values: chance, the majority and a linear model. The
  /// linear model is fitted within the request or comes from the cache (scores.hpp). Nothing where none is asked for.
  virtual std::optional<ReferenceScores> references(const ReferenceRequest& /*request*/) const { return std::nullopt; }

  /// Notes on oddities of the data that make no run fail, a sentence each.
  virtual std::vector<std::string> notes() const { return {}; }

  /// Number that tells whether a resumed run sees the same data as it was started on.
  virtual std::int64_t fingerprint() const = 0;
};

/// Meaning of the rows of an example. symbols: a network embeds them. features: each row is a separate sample. steps:
/// rows of features that belong together.
enum class Rows { symbols, features, steps };

/// Kind of task, named by task.kind.
struct TaskKind {
  std::string name;
  std::string summary;
  std::unique_ptr<Task> (*make)(const Config& config);
  std::string metric = {};  ///< score of its samples beside the loss: "accuracy" or "rmse"; empty: none
  Rows rows = Rows::symbols;
  /// Check of the task's keys that needs no data; make() runs it too. UserError naming the keys; null: no check.
  void (*check)(const Config& config) = nullptr;
  /// Keys that this task reads and others may not, its own included. Set for a task that does not read them, they are
  /// refused.
  ParamTable keys = {};
  std::string only_network = {};  ///< only network kind that can learn it; empty: any that takes such rows
};

/// Returns the kind that task.kind names.
const TaskKind& task_kind(const Config& config);

/// Returns the metric of the task that task.kind names.
const std::string& score_metric(const Config& config);

/// Returns all kinds of tasks.
const std::vector<TaskKind>& task_kinds();
/// Adds a task kind of the program, before anything else of nudge is used (OpenList).
void add_task_kind(TaskKind kind);

/// Makes the task that task.kind names. UserError for data that cannot be read or does not fit.
std::unique_ptr<Task> make_task(const Config& config);

}  // namespace nudge
