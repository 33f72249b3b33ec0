// SPDX-License-Identifier: Apache-2.0
#include "training/data/sample_task.hpp"

#include <algorithm>

#include "training/data/sample_notes.hpp"
#include "training/data/sample_references.hpp"

namespace nudge {

SampleTask::SampleTask(const Config& config, Target target)
    : parts_(load_samples(sample_options(config), target)),
      batch_(static_cast<Index>(config.integer("train.batch"))),
      rows_(samples_side_by_side(config)),
      validation_samples_(static_cast<Index>(config.integer("data.validation_samples"))),
      seed_(static_cast<std::uint64_t>(config.integer("seed"))),
      threads_(static_cast<int>(config.integer("threads"))) {}

TaskSizes SampleTask::sizes() const {
  return {rows_, 0, parts_.classes, parts_.training.features.cols(), parts_.training.values.cols(), parts_.shape};
}

Batch SampleTask::training(std::uint64_t step) const {
  return side_by_side(epoch_batch(parts_.training, batch_, seed_, step), rows_);
}

std::vector<std::string> SampleTask::notes() const { return sample_notes(parts_); }

std::vector<Batch> SampleTask::in_rows(std::vector<Batch> batches) const {
  for (Batch& batch : batches) batch = side_by_side(batch, rows_);
  return batches;
}

std::vector<Batch> SampleTask::validation() const {
  return in_rows(batches_of(parts_.validation, batch_, validation_samples_));
}

std::vector<Batch> SampleTask::test() const { return in_rows(batches_of(parts_.test, batch_)); }

Index samples_side_by_side(const Config& config) {
  if (const auto asked = static_cast<Index>(config.integer("data.side_by_side")); asked > 0) return asked;
  const auto batch = static_cast<Index>(config.integer("train.batch"));
  Index rows = std::min(batch, kMostSideBySide);
  while (batch % rows != 0) --rows;
  return rows;
}

std::optional<ReferenceScores> ClassificationTask::references() const {
  return classification_references(parts(), threads());
}

std::optional<ReferenceScores> RegressionTask::references() const { return regression_references(parts(), threads()); }

}  // namespace nudge
