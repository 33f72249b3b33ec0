// SPDX-License-Identifier: Apache-2.0
#include "training/data/sample_task.hpp"

#include "training/data/sample_references.hpp"

namespace nudge {

SampleTask::SampleTask(const Config& config, Target target)
    : parts_(load_samples(sample_options(config), target)),
      batch_(static_cast<Index>(config.integer("train.batch"))),
      validation_samples_(static_cast<Index>(config.integer("data.validation_samples"))),
      seed_(static_cast<std::uint64_t>(config.integer("seed"))),
      threads_(static_cast<int>(config.integer("threads"))) {}

TaskSizes SampleTask::sizes() const {
  return {1, 0, parts_.classes, parts_.training.features.cols(), parts_.training.values.cols(), parts_.shape};
}

Batch SampleTask::training(std::uint64_t step) const { return epoch_batch(parts_.training, batch_, seed_, step); }

std::vector<Batch> SampleTask::validation() const { return batches_of(parts_.validation, batch_, validation_samples_); }

std::vector<Batch> SampleTask::test() const { return batches_of(parts_.test, batch_); }

std::optional<ReferenceScores> ClassificationTask::references() const {
  return classification_references(parts(), threads());
}

std::optional<ReferenceScores> RegressionTask::references() const { return regression_references(parts(), threads()); }

}  // namespace nudge
