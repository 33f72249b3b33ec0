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

/// What a network must fit: rows of an example (the tokens of a sequence, or samples side by side), symbols that its rows are
/// drawn from or features that each row has, classes that the cost tells apart or real values that it fits. 0 for what a task
/// has not.
struct TaskSizes {
  Index rows = 0;
  Index symbols = 0;
  Index classes = 0;
  Index features = 0;
  Index values = 0;
  std::vector<Index> shape =
      {};  ///< of the features of a row: (height, width), (channels, height, width) or (features)
};

/// How many batches of how many examples are held out for choices and for the final test.
struct HeldOutSizes {
  Index validation_batches = 0, validation_size = 0;
  Index test_batches = 0, test_size = 0;
};

/// Those of a training: train.evaluation_batches and train.test_batches of train.batch.
HeldOutSizes held_out_sizes(const Config& config);

/// What is to be learned: deterministic batches of examples with their targets, for training, for choices (validation) and for
/// the one number that is reported (test), and what trivial models score on them. Knows no network. Batches are pure functions
/// of the config and of the step, so that a resumed run and any estimator with the same seed see the same ones.
class Task {
 public:
  virtual ~Task() = default;

  virtual TaskSizes sizes() const = 0;

  virtual Batch training(std::uint64_t step) const = 0;
  virtual std::vector<Batch> validation() const = 0;
  /// Empty where nothing is held out for it.
  virtual std::vector<Batch> test() const = 0;

  /// What trivial models score: chance, and what counting gives. Nothing where none is known.
  virtual std::optional<TextLines> lines() const { return std::nullopt; }
  /// The same where answers are right or wrong, or real: chance, the majority and a linear model, which is fitted within the request or comes
  /// from the cache (scores.hpp). Nothing where none is asked for.
  virtual std::optional<ReferenceScores> references(const ReferenceRequest& /*request*/) const { return std::nullopt; }

  /// What is odd about the data and makes no run fail, a sentence each.
  virtual std::vector<std::string> notes() const { return {}; }

  /// Tells whether a resumed run sees the data that it was started on.
  virtual std::int64_t fingerprint() const = 0;
};

/// What the rows of an example are made of: symbols, which a network embeds; features, which it is fed, a sample's each; or steps, features of rows
/// that belong together.
enum class Rows { symbols, features, steps };

/// A kind of task by the name that task.kind has.
struct TaskKind {
  std::string name;
  std::string summary;
  std::unique_ptr<Task> (*make)(const Config& config);
  std::string metric = {};  ///< what its samples are scored by beside the loss: "accuracy" or "rmse"; empty: nothing
  Rows rows = Rows::symbols;
  /// What it requires of its keys, known before there is data: make() asks the same. UserError naming them; null: nothing.
  void (*check)(const Config& config) = nullptr;
  /// What it reads of those keys that only some tasks do, its own among them. Set for others, they are refused.
  ParamTable keys = {};
  std::string only_network = {};  ///< the one kind that can learn it; empty: any that takes such rows
};

/// The kind of task.kind.
const TaskKind& task_kind(const Config& config);

/// The metric of task.kind.
const std::string& score_metric(const Config& config);

/// All kinds; one line each.
const std::vector<TaskKind>& task_kinds();
/// Adds one of a program's own, before anything else of nudge is used (OpenList).
void add_task_kind(TaskKind kind);

/// The task of task.kind. UserError for data that cannot be read or does not fit.
std::unique_ptr<Task> make_task(const Config& config);

}  // namespace nudge
