// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/data/augmentation.hpp"
#include "training/data/samples.hpp"
#include "training/data/scores.hpp"
#include "training/data/task.hpp"

namespace nudge {

/// Task of samples with features and a target each, from data.file or the digits that ship (data.*). Rows are samples,
/// data.side_by_side of them in an example. Training goes in epochs, each in an order and with
/// changes (data.augment) of its own. Validation uses its
/// first data.validation_samples samples, test all.
class SampleTask : public Task {
 public:
  TaskSizes sizes() const override;
  Batch training(std::uint64_t step) const override;
  std::vector<Batch> validation() const override;
  std::vector<Batch> test() const override;
  std::vector<std::string> notes() const override;
  std::int64_t fingerprint() const override;

  const SampleParts& parts() const { return parts_; }

 protected:
  SampleTask(const Config& config, Target target);
  SampleTask(const Config& config, SampleParts parts);
  /// Scores that `compute` gives for the parts, taken from the cache if known.
  std::optional<ReferenceScores> scores(const ReferenceRequest& request, Index outputs,
                                        ReferenceScores (*compute)(const SampleParts&, const ReferenceRequest&)) const;

 private:
  std::vector<Batch> in_rows(std::vector<Batch> batches) const;

  SampleParts parts_;
  Augmentation augmentation_;
  Index batch_, rows_, frames_, validation_samples_;
  std::uint64_t seed_;
  /// Result of fingerprint() once computed: 0.2 s for 45 million numbers, and each checkpoint has it.
  mutable std::optional<std::int64_t> fingerprint_ = {};
};

/// Number of samples in one state: data.side_by_side, or, where that is 0, the largest divisor of train.batch up to
/// kMostSideBySide.
Index samples_side_by_side(const Config& config);
inline constexpr Index kMostSideBySide = 16;

/// Task of finding which of K classes a sample is of: targets of the batches.
class ClassificationTask final : public SampleTask {
 public:
  explicit ClassificationTask(const Config& config) : SampleTask(config, Target::label) {}
  std::optional<ReferenceScores> references(const ReferenceRequest& request) const override;
};

/// Task of fitting real values of a sample: values of the batches, scaled by data.value_scaling.
class RegressionTask final : public SampleTask {
 public:
  explicit RegressionTask(const Config& config) : SampleTask(config, Target::value) {}
  std::optional<ReferenceScores> references(const ReferenceRequest& request) const override;
};

/// Reference scores of classification: loss = cross-entropy (nat), score = accuracy, on validation and (where there is
/// one) test:
///   chance    every class equally likely: ln K, 1/K
///   majority  the training split's class frequencies, add-one smoothed; the choice is its most frequent class
///   linear    multinomial logistic regression (linear_model.hpp), λ chosen on validation
/// A network that ends above `linear` in error has learnt nothing that needs a hidden layer. Throws Interrupted where
/// request.progress returns false, and at stop_point().
ReferenceScores classification_references(const SampleParts& parts, const ReferenceRequest& request = {});

/// Reference scores of regression: loss = ½|y − ŷ|² (mean over samples), score = √(mean square error of a value), in
/// scaled values. The models are mean (of the training split) and linear (ridge regression).
ReferenceScores regression_references(const SampleParts& parts, const ReferenceRequest& request = {});

/// Number of training samples to fit the linear model to: all n, or a power of two ≥ 256 that keeps within the
/// request's operations. 0 where not even 256 do, or the model has more than kMostLinearParameters parameters.
Index samples_to_fit(Index n, Index features, Index outputs, const ReferenceRequest& request);

}  // namespace nudge
