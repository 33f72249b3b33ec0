// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "sim/config/config.hpp"
#include "training/data/task.hpp"
#include "training/train/learner.hpp"

namespace nudge {

/// Whether a run that has ended reads the test part of its task. Runs that a choice is made from must not.
enum class FinalTest { evaluate, leave };

struct LoopSettings {
  std::uint64_t steps = 0;
  std::uint64_t evaluate_every = 0;    ///< steps; 0: at the end only
  std::uint64_t checkpoint_every = 0;  ///< steps; 0: at the end only
  bool evaluate_start = true;          ///< also before the first step
  FinalTest final_test = FinalTest::evaluate;
};

/// train.steps, evaluate_every and checkpoint_every.
LoopSettings loop_settings(const Config& config, FinalTest final_test);

/// The loop of every training: batches of a task, one after the other, for one learner or for several that see the same ones.
class TrainingLoop {
 public:
  TrainingLoop(std::shared_ptr<const Task> task, std::vector<std::unique_ptr<Learner>> learners,
               const LoopSettings& settings);

  /// Goes on until all steps are done, a learner is stuck, or go_on(), asked after every step, says no. save() is called when
  /// a checkpoint is due and, where any step was done, at the end. A signal that interrupted() has been asked about ends a step or an
  /// evaluation under way, which a resumed run does again.
  void run(const std::function<void()>& save, const std::function<bool()>& go_on);

  std::uint64_t done() const { return done_; }
  std::uint64_t steps() const { return settings_.steps; }
  bool finished() const { return done_ == settings_.steps; }
  /// Whether run() was stopped before its end: before the last step, or what is due after it.
  bool stopped() const { return stopped_; }
  /// Why it ended before its last step: a learner's reason, or empty.
  const std::string& stuck() const { return stuck_; }

  std::size_t learners() const { return learners_.size(); }
  const Learner& learner(std::size_t i) const { return *learners_[i]; }
  const Task& task() const { return *task_; }

  /// All that a resumed run needs: learner 0 below `group` ("" or "name/"), the second below its "beside/".
  void write(H5Document& document, const std::string& group) const;
  void restore(const H5Reader& file, const std::string& group);

 private:
  void evaluate();
  void step();

  /// What a learner has done after the last step.
  struct Evaluated {
    std::int64_t at = -1;  ///< steps done at its last validation; -1: there was none
    bool tested = false;
    bool operator==(const Evaluated&) const = default;
  };

  std::shared_ptr<const Task> task_;
  std::vector<std::unique_ptr<Learner>> learners_;
  LoopSettings settings_;
  std::vector<Batch> validation_;
  std::vector<Evaluated> evaluated_;
  std::uint64_t done_ = 0;
  std::string stuck_;
  bool stopped_ = false;
};

}  // namespace nudge
