// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "training/data/task.hpp"
#include "training/train/learning_run.hpp"

namespace nudge {

/// Choice whether a run that has ended reads the test split of its task. Runs that a choice is made from must not.
enum class FinalTest { evaluate, leave };

struct LoopSettings {
  std::uint64_t steps = 0;
  std::uint64_t evaluate_every = 0;    ///< steps between evaluations; 0: at the end only
  std::uint64_t checkpoint_every = 0;  ///< steps between checkpoints; 0: at the end only
  bool evaluate_start = true;          ///< evaluate also before the first step
  FinalTest final_test = FinalTest::evaluate;
};

/// One of the runs of a training, by its name in logs, files and reports. The name "" is the run itself, "beside" a
/// reference. Names such as "null/frozen_devices" are nulls (null_runs.hpp). Its data stand below its name: /train,
/// /beside/train, /null/frozen_devices/train.
struct NamedRun {
  std::string name;
  std::unique_ptr<LearningRun> run;
  bool ends_run = true;  ///< true: the run ends where this run is stuck
};

/// Reads train.steps, evaluate_every and checkpoint_every.
LoopSettings loop_settings(const Config& config, FinalTest final_test);

/// Loop of every training: batches of a task, one after the other, for one run or for several that see the same
/// ones.
class TrainingLoop {
 public:
  /// Makes a loop of several runs; the first is the one asked for.
  TrainingLoop(std::shared_ptr<const Task> task, std::vector<NamedRun> runs, const LoopSettings& settings);
  /// Makes a loop of one run.
  TrainingLoop(std::shared_ptr<const Task> task, std::unique_ptr<LearningRun> run, const LoopSettings& settings);

  /// Runs until all steps are done, a run is stuck, or go_on(), asked after every step, returns false. Calls save()
  /// when a checkpoint is due and, where any step was done, at the end. A signal that interrupted() has been asked
  /// about ends a step or an evaluation under way, which a resumed run does again.
  void run(const std::function<void()>& save, const std::function<bool()>& go_on);

  std::uint64_t done() const { return done_; }
  std::uint64_t steps() const { return settings_.steps; }
  bool finished() const { return done_ == settings_.steps; }
  /// True if run() was stopped before its end: before the last step, or before the work due after it.
  bool stopped() const { return stopped_; }
  /// Reason why it ended before its last step: a run's reason, or empty.
  const std::string& stuck() const { return stuck_; }

  const LearningRun& main_run() const { return *runs_.front().run; }
  LearningRun& main_run() { return *runs_.front().run; }
  /// The run of this name; null where there is none of that name.
  const LearningRun* named(const std::string& name) const;
  /// Names of all runs, in their order.
  std::vector<std::string> names() const;
  const Task& task() const { return *task_; }

  /// Writes all that a resumed run needs: every run below `group` ("" or "name/") and its own name.
  void write(H5Document& document, const std::string& group) const;
  void restore(const H5Reader& file, const std::string& group);

 private:
  void evaluate();
  void step();

  /// Work of a run after the last step.
  struct Evaluated {
    std::int64_t at = -1;  ///< steps done at its last validation; -1: there was none
    bool tested = false;
    bool operator==(const Evaluated&) const = default;
  };

  std::shared_ptr<const Task> task_;
  std::vector<NamedRun> runs_;
  LoopSettings settings_;
  std::vector<Batch> validation_;
  std::vector<Evaluated> evaluated_;
  std::uint64_t done_ = 0;
  std::string stuck_;
  bool stopped_ = false;
};

}  // namespace nudge
