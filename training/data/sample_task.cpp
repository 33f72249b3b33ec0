// SPDX-License-Identifier: Apache-2.0
#include "training/data/sample_task.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "sim/base/build_info.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/base/product.hpp"
#include "training/data/data_options.hpp"
#include "training/data/linear_model.hpp"

namespace nudge {
namespace {

/// Revision of the reference scores, counted up whenever the same data and samples give other scores.
constexpr const char* kReferenceRevision = "references 1";

}  // namespace

SampleTask::SampleTask(const Config& config, Target target)
    : SampleTask(config, load_samples(sample_options(config), target)) {}

SampleTask::SampleTask(const Config& config, SampleParts parts)
    : parts_(std::move(parts)),
      augmentation_(data_options(config).augment, parts_),
      batch_(static_cast<Index>(config.integer("train.batch"))),
      rows_(samples_side_by_side(config)),
      frames_(data_options(config).frames),
      validation_samples_(data_options(config).validation_samples),
      seed_(run_seed(config)) {
  const Index features = parts_.training.features.cols();
  if (features % frames_ != 0) {
    throw UserError(fmt::format("data.frames = {} (must divide the {} features of a sample)", frames_, features));
  }
  if (frames_ > 1) parts_.shape = {features / frames_};
}

std::int64_t SampleTask::fingerprint() const {
  if (!fingerprint_) fingerprint_ = parts_.fingerprint();
  return *fingerprint_;
}

TaskSizes SampleTask::sizes() const {
  return {rows_,       0, parts_.classes, parts_.training.features.cols() / frames_, parts_.training.values.cols(),
          parts_.shape};
}

Batch SampleTask::training(std::uint64_t step) const {
  Batch batch = epoch_batch(parts_.training, batch_, seed_, step);
  augmentation_.apply(batch, seed_, step);
  return side_by_side(batch, rows_);
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

namespace {

constexpr Index kFewest = 256;  // samples: fewer say little of ten classes

struct HeldOutPart {
  const char* name;
  const Samples* samples;
};

std::vector<HeldOutPart> held_out(const SampleParts& parts) {
  std::vector<HeldOutPart> out = {{"validation", &parts.validation}};
  if (parts.test.count() > 0) out.push_back({"test", &parts.test});
  return out;
}

/// Scores a model that gives the same probabilities to every sample.
LinearScore constant_score(const std::vector<double>& probabilities, const Samples& samples) {
  const auto choice = std::max_element(probabilities.begin(), probabilities.end()) - probabilities.begin();
  LinearScore out;
  for (const int label : samples.labels) {
    out.loss -= std::log(probabilities[static_cast<std::size_t>(label)]);
    out.accuracy += label == choice ? 1 : 0;
  }
  const auto n = static_cast<double>(samples.count());
  return {out.loss / n, out.accuracy / n};
}

/// Computes the mean loss ½|y − m|² of a sample.
double constant_loss(const Eigen::RowVectorXd& mean, const Samples& samples) {
  double sum = 0;
  for (Index i = 0; i < samples.count(); ++i) sum += (samples.values.row(i).cast<double>() - mean).squaredNorm() / 2;
  return sum / static_cast<double>(samples.count());
}

/// Fits the linear model within the request, or returns nothing and sets the reason in `out`. outputs: number of
/// classes or values.
std::optional<LinearModel> linear_model(const SampleParts& parts, Index outputs, LinearLoss loss,
                                        const ReferenceRequest& request, ReferenceScores& out) {
  const Index n = parts.training.count(), d = parts.training.features.cols();
  FitLimits limits;
  limits.rows = samples_to_fit(n, d, outputs, request);
  out.of_samples = n;
  if ((d + 1) * outputs > kMostLinearParameters) {
    out.note =
        fmt::format("no linear model: it has {} x {} parameters, more than {}", d + 1, outputs, kMostLinearParameters);
  } else if (limits.rows == 0) {
    out.note = fmt::format("no linear model: even {} of {} samples would take more than a tenth of the run",
                           std::min(kFewest, n), n);
  }
  if (!out.note.empty()) return std::nullopt;
  out.samples = limits.rows;
  limits.threads = request.threads;
  int pass = 0;
  limits.before_pass = [&] {
    stop_point();
    ++pass;
    if (request.progress &&
        !request.progress(fmt::format("linear reference: {} samples, pass {}", limits.rows, pass))) {
      throw Interrupted{};
    }
  };
  const LinearModel model = choose_linear_model(parts.training, parts.validation, outputs, loss, limits);
  if (!std::isfinite(model.fit.value)) {
    out.note = "no linear model: its loss is not finite";
    return std::nullopt;
  }
  out.ridge = model.ridge;
  out.above_minimum = model.fit.decrement;
  return model;
}

}  // namespace

Index samples_to_fit(Index n, Index features, Index outputs, const ReferenceRequest& request) {
  if ((features + 1) * outputs > kMostLinearParameters) return 0;
  const auto fits = [&](Index rows) { return fit_operations(rows, features, outputs, {}) <= request.operations; };
  if (fits(n)) return n;
  Index rows = kFewest;
  if (rows >= n || !fits(rows)) return 0;
  while (2 * rows < n && fits(2 * rows)) rows *= 2;
  return rows;
}

ReferenceScores classification_references(const SampleParts& parts, const ReferenceRequest& request) {
  const auto k = static_cast<std::size_t>(parts.classes);
  std::vector<double> frequencies(k, 1.0);
  for (const int label : parts.training.labels) frequencies[static_cast<std::size_t>(label)] += 1;
  for (double& one : frequencies) one /= static_cast<double>(parts.training.count()) + static_cast<double>(k);
  ReferenceScores out{"accuracy", "nat", {}};
  std::optional<LinearModel> linear;
  if (request.wants("linear")) linear = linear_model(parts, parts.classes, LinearLoss::cross_entropy, request, out);
  for (const auto& [name, samples] : held_out(parts)) {
    const auto add = [&, at = name](const char* model, const LinearScore& score) {
      if (request.wants(model)) out.rows.push_back({model, at, score.loss, score.accuracy});
    };
    add("chance", {std::log(static_cast<double>(k)), 1 / static_cast<double>(k)});
    add("majority", constant_score(frequencies, *samples));
    if (linear) add("linear", score(*linear, *samples, LinearLoss::cross_entropy, request.threads));
  }
  return out;
}

ReferenceScores regression_references(const SampleParts& parts, const ReferenceRequest& request) {
  const Index k = parts.training.values.cols();
  const Eigen::RowVectorXd mean = parts.training.values.cast<double>().colwise().mean();
  ReferenceScores out{"rmse", "1", {}};
  std::optional<LinearModel> linear;
  if (request.wants("linear")) linear = linear_model(parts, k, LinearLoss::squared, request, out);
  for (const auto& [name, samples] : held_out(parts)) {
    const auto add = [&, at = name](const char* model, double loss) {
      if (request.wants(model)) out.rows.push_back({model, at, loss, std::sqrt(2 * loss / static_cast<double>(k))});
    };
    add("mean", constant_loss(mean, *samples));
    if (linear) add("linear", score(*linear, *samples, LinearLoss::squared, request.threads).loss);
  }
  return out;
}

}  // namespace nudge
