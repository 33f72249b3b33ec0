// SPDX-License-Identifier: Apache-2.0
#include "training/data/sample_task.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "sim/base/build_info.hpp"
#include "sim/base/product_kernel.hpp"
#include "training/data/data_options.hpp"
#include "training/data/reference_cache.hpp"
#include "training/data/run_seed.hpp"
#include "training/data/sample_notes.hpp"
#include "training/data/sample_references.hpp"

namespace nudge {
namespace {

/// Counted up whenever the same data and samples give other scores.
constexpr const char* kReferenceRevision = "references 1";

}  // namespace

SampleTask::SampleTask(const Config& config, Target target)
    : parts_(load_samples(sample_options(config), target)),
      batch_(static_cast<Index>(config.integer("train.batch"))),
      rows_(samples_side_by_side(config)),
      validation_samples_(data_options(config).validation_samples),
      seed_(run_seed(config)) {}

std::int64_t SampleTask::fingerprint() const {
  if (!fingerprint_) fingerprint_ = parts_.fingerprint();
  return *fingerprint_;
}

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
  if (const Index asked = data_options(config).side_by_side; asked > 0) return asked;
  const auto batch = static_cast<Index>(config.integer("train.batch"));
  Index rows = std::min(batch, kMostSideBySide);
  while (batch % rows != 0) --rows;
  return rows;
}

std::optional<ReferenceScores> SampleTask::scores(const ReferenceRequest& request, Index outputs,
                                                  ReferenceScores (*compute)(const SampleParts&,
                                                                             const ReferenceRequest&)) const {
  if (request.off()) return std::nullopt;
  const auto start = std::chrono::steady_clock::now();
  const Index n = parts_.training.count(), d = parts_.training.features.cols();
  // What the scores depend on: the numbers of all parts, and what is fitted to how many of them by which arithmetic.
  const std::string key =
      fmt::format("{}: {:016x} of {} + {} + {} x {}, {} outputs; {} of {} samples; {}; {}", kReferenceRevision,
                  static_cast<std::uint64_t>(fingerprint()), n, parts_.validation.count(), parts_.test.count(), d,
                  outputs, fmt::join(request.models, ", "), samples_to_fit(n, d, outputs, request),
                  version_and_revision(), product_kernel_name());
  ReferenceScores out = cached_references(key, n, [&] { return compute(parts_, request); });
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

std::optional<ReferenceScores> ClassificationTask::references(const ReferenceRequest& request) const {
  return scores(request, parts().classes, classification_references);
}

std::optional<ReferenceScores> RegressionTask::references(const ReferenceRequest& request) const {
  return scores(request, parts().training.values.cols(), regression_references);
}

}  // namespace nudge
