// SPDX-License-Identifier: Apache-2.0
#include "training/train/training_loop.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/base/interrupts.hpp"
#include "training/batch/batch_ranks.hpp"
#include "training/config/train_options.hpp"

namespace nudge {
namespace {

bool due(std::uint64_t every, std::uint64_t done) { return every > 0 && done % every == 0; }

std::string prefix(const std::string& group, const std::string& name) {
  return name.empty() ? group : fmt::format("{}{}/", group, name);
}

std::vector<NamedRun> alone(std::unique_ptr<LearningRun> run) {
  std::vector<NamedRun> runs;
  runs.push_back({"", std::move(run)});
  return runs;
}

/// Path of the attributes of a group.
std::string object(const std::string& group) { return group.empty() ? "/" : group.substr(0, group.size() - 1); }

}  // namespace

LoopSettings loop_settings(const Config& config, FinalTest final_test) {
  LoopSettings settings;
  const TrainOptions options = train_options(config);
  settings.steps = options.rate.steps;
  settings.evaluate_every = options.evaluate_every;
  settings.checkpoint_every = options.checkpoint_every;
  settings.final_test = final_test;
  return settings;
}

TrainingLoop::TrainingLoop(std::shared_ptr<const Task> task, std::vector<NamedRun> runs, const LoopSettings& settings)
    : task_(std::move(task)),
      runs_(std::move(runs)),
      settings_(settings),
      validation_(task_->validation()),
      evaluated_(runs_.size()) {}

TrainingLoop::TrainingLoop(std::shared_ptr<const Task> task, std::unique_ptr<LearningRun> run,
                           const LoopSettings& settings)
    : TrainingLoop(std::move(task), alone(std::move(run)), settings) {}

std::vector<std::string> TrainingLoop::names() const {
  std::vector<std::string> out;
  for (const NamedRun& one : runs_) out.push_back(one.name);
  return out;
}

const LearningRun* TrainingLoop::named(const std::string& name) const {
  for (const NamedRun& one : runs_) {
    if (one.name == name) return one.run.get();
  }
  return nullptr;
}

/// Does the evaluations that are due after done_ steps; a run's is done whole or, where it is interrupted, not at
/// all.
void TrainingLoop::evaluate() {
  const Interruptible here(!batches_are_shared());
  const bool validates = done_ == 0 ? settings_.evaluate_start : due(settings_.evaluate_every, done_) || finished();
  for (std::size_t i = 0; validates && i < runs_.size(); ++i) {
    if (evaluated_[i].at == static_cast<std::int64_t>(done_)) continue;
    runs_[i].run->evaluate(done_, validation_);
    evaluated_[i].at = static_cast<std::int64_t>(done_);
  }
  if (!finished() || !stuck_.empty() || settings_.final_test != FinalTest::evaluate) return;
  const std::vector<Batch> test = task_->test();
  for (std::size_t i = 0; !test.empty() && i < runs_.size(); ++i) {
    if (evaluated_[i].tested) continue;
    runs_[i].run->evaluate_test(done_, test, validation_.size());
    evaluated_[i].tested = true;
  }
}

/// Does a step of every run. The first's may be left undone; after it the others have to follow.
void TrainingLoop::step() {
  const Batch batch = task_->training(done_);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const Interruptible first(i == 0 && !batches_are_shared());
    runs_[i].run->step(done_, batch);
  }
  ++done_;
  for (const NamedRun& one : runs_) {
    if (stuck_.empty() && one.ends_run) stuck_ = one.run->stuck();
  }
}

void TrainingLoop::run(const std::function<void()>& save, const std::function<bool()>& go_on) {
  bool stop = false, unsaved = false;
  stopped_ = false;
  try {
    const std::vector<Evaluated> before = evaluated_;
    for (const NamedRun& one : runs_) {  // a run that had ended so does no step more when it is resumed
      if (stuck_.empty() && one.ends_run && done_ > 0) stuck_ = one.run->stuck();
    }
    evaluate();  // of a resumed run: what was interrupted
    unsaved = finished() && evaluated_ != before;
    while (!finished() && !stop && stuck_.empty()) {
      step();
      evaluate();
      if (due(settings_.checkpoint_every, done_) || finished()) save();
      stop = !go_on();
    }
  } catch (const Interrupted&) {
    stop = stopped_ = true;
  }
  stopped_ = stopped_ || (stop && !finished());
  if ((stop && done_ > 0) || unsaved || !stuck_.empty()) save();
}

void TrainingLoop::write(H5Document& document, const std::string& group) const {
  document.attribute("checkpoint_done", static_cast<std::int64_t>(done_), object(group));
  document.attribute("checkpoint_text", task_->fingerprint(), object(group));
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    runs_[i].run->write(document, prefix(group, runs_[i].name));
    const std::string at = object(prefix(group, runs_[i].name));
    document.attribute("checkpoint_evaluated", evaluated_[i].at, at);
    document.attribute("checkpoint_tested", static_cast<std::int64_t>(evaluated_[i].tested), at);
  }
}

void TrainingLoop::restore(const H5Reader& file, const std::string& group) {
  if (file.integer_attribute("checkpoint_text", object(group)) != task_->fingerprint()) {
    file.fail("attribute checkpoint_text",
              "the data of the task (data.text, data.file) has changed since the run was started (restore it, or start "
              "a new run)");
  }
  const std::int64_t done = file.integer_attribute("checkpoint_done", object(group));
  if (done < 0 || done > static_cast<std::int64_t>(settings_.steps)) {
    file.fail("attribute checkpoint_done", fmt::format("{} (must be in [0, {}], train.steps)", done, settings_.steps));
  }
  done_ = static_cast<std::uint64_t>(done);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    runs_[i].run->restore(file, prefix(group, runs_[i].name));
    const std::string at = object(prefix(group, runs_[i].name));
    const bool told = file.has_attribute("checkpoint_evaluated", at);  // else the file is of a version that always had
    evaluated_[i].at = told ? file.integer_attribute("checkpoint_evaluated", at) : done;
    evaluated_[i].tested = told ? file.integer_attribute("checkpoint_tested", at) != 0 : finished();
  }
}

}  // namespace nudge
