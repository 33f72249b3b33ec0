// SPDX-License-Identifier: Apache-2.0
#include "training/data/sample_references.hpp"

#include <cmath>

#include "training/data/confusion.hpp"
#include "training/data/linear_model.hpp"

namespace nudge {
namespace {

struct Part {
  const char* name;
  const Samples* samples;
};

std::vector<Part> held_out(const SampleParts& parts) {
  std::vector<Part> out = {{"validation", &parts.validation}};
  if (parts.test.count() > 0) out.push_back({"test", &parts.test});
  return out;
}

/// The same scores for every sample.
Matrix<double> repeated(const Eigen::RowVectorXd& row, Index n) { return row.replicate(n, 1); }

double accuracy(const Matrix<double>& scores, const Samples& samples) {
  ConfusionMatrix confusion(scores.cols());
  confusion.add<double>(scores, samples.labels);
  return confusion.accuracy();
}

}  // namespace

ReferenceScores classification_references(const SampleParts& parts, int threads) {
  const Index k = parts.classes;
  Eigen::RowVectorXd frequencies = Eigen::RowVectorXd::Ones(k);
  for (const int label : parts.training.labels) frequencies(label) += 1;
  frequencies /= frequencies.sum();
  const LinearModel linear =
      choose_linear_model(parts.training, parts.validation, k, LinearLoss::cross_entropy, threads);
  ReferenceScores out{"accuracy", "nat", {}, linear.ridge};
  for (const auto& [name, samples] : held_out(parts)) {
    const auto classes = static_cast<double>(k);
    out.rows.push_back({"chance", name, std::log(classes), 1 / classes});
    const auto add = [&, at = name, of = samples](const char* model, const Matrix<double>& scores) {
      out.rows.push_back({model, at, mean_loss(scores, *of, LinearLoss::cross_entropy), accuracy(scores, *of)});
    };
    add("majority", repeated(frequencies.array().log(), samples->count()));
    add("linear", linear.scores(samples->features));
  }
  return out;
}

ReferenceScores regression_references(const SampleParts& parts, int threads) {
  const Index k = parts.training.values.cols();
  const Eigen::RowVectorXd mean = parts.training.values.cast<double>().colwise().mean();
  const LinearModel linear = choose_linear_model(parts.training, parts.validation, k, LinearLoss::squared, threads);
  ReferenceScores out{"rmse", "1", {}, linear.ridge};
  for (const auto& [name, samples] : held_out(parts)) {
    const auto add = [&, at = name, of = samples](const char* model, const Matrix<double>& scores) {
      const double loss = mean_loss(scores, *of, LinearLoss::squared);
      out.rows.push_back({model, at, loss, std::sqrt(2 * loss / static_cast<double>(k))});
    };
    add("mean", repeated(mean, samples->count()));
    add("linear", linear.scores(samples->features));
  }
  return out;
}

}  // namespace nudge
