// SPDX-License-Identifier: Apache-2.0
#include "training/data/sample_references.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/interrupts.hpp"
#include "training/data/linear_model.hpp"

namespace nudge {
namespace {

constexpr Index kFewest = 256;  // samples: fewer say little of ten classes

struct Part {
  const char* name;
  const Samples* samples;
};

std::vector<Part> held_out(const SampleParts& parts) {
  std::vector<Part> out = {{"validation", &parts.validation}};
  if (parts.test.count() > 0) out.push_back({"test", &parts.test});
  return out;
}

/// The same probabilities for every sample.
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

/// ½|y − m|² of a sample.
double constant_loss(const Eigen::RowVectorXd& mean, const Samples& samples) {
  double sum = 0;
  for (Index i = 0; i < samples.count(); ++i) sum += (samples.values.row(i).cast<double>() - mean).squaredNorm() / 2;
  return sum / static_cast<double>(samples.count());
}

/// The linear model within the request, or nothing and the reason in `out`.
std::optional<LinearModel> linear_model(const SampleParts& parts, Index outputs, LinearLoss loss,
                                        const ReferenceRequest& request, ReferenceScores& out) {
  const Index n = parts.training.count(), d = parts.training.features.cols();
  FitLimits limits;
  limits.rows = samples_to_fit(n, d, outputs, request);
  out.of_samples = n;
  if ((d + 1) * outputs > kMostLinearParameters) {
    out.note =
        fmt::format("no linear model: {} x {} parameters are more than {}", d + 1, outputs, kMostLinearParameters);
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
