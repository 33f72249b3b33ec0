// SPDX-License-Identifier: Apache-2.0
#include "training/data/linear_model.hpp"

#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"

namespace nudge {
namespace {

constexpr Index kChunk = 1024;
constexpr double kGap = 1e-6;     // nat that the objective may be above its minimum
constexpr int kMostSteps = 2000;  // of L-BFGS; reached only by an objective that is flat to rounding

/// Loss of one row, and its derivative in place of the scores.
double row_loss(Eigen::Ref<Eigen::RowVectorXd> s, const Samples& samples, Index i, LinearLoss loss) {
  if (loss == LinearLoss::squared) {
    s -= samples.values.row(i).cast<double>();
    return 0.5 * s.squaredNorm();
  }
  const int label = samples.labels[static_cast<std::size_t>(i)];
  const double largest = s.maxCoeff(), own = s(label);
  s = (s.array() - largest).exp();
  const double sum = s.sum();
  s /= sum;
  s(label) -= 1;
  return std::log(sum) + largest - own;
}

/// Rows [begin, begin + count) as the model sees them.
Matrix<double> inputs(const LinearModel& model, const Matrix<float>& features, Index begin, Index count) {
  Matrix<double> x = features.middleRows(begin, count).cast<double>();
  x.rowwise() -= model.centre;
  x /= model.width;
  return x;
}

/// Mean loss + λ/2 |W|² and its gradient, parameters packed as W row by row, then b.
class RidgeObjective {
 public:
  RidgeObjective(const LinearModel& model, const Samples& samples, LinearLoss loss, int threads)
      : model_(model),
        samples_(samples),
        loss_(loss),
        threads_(threads),
        chunks_((samples.count() + kChunk - 1) / kChunk),
        losses_(static_cast<std::size_t>(chunks_)),
        gradients_(static_cast<std::size_t>(chunks_)) {}

  double operator()(const Eigen::VectorXd& x, Eigen::VectorXd& gradient) {
    const Index d = model_.weights.rows(), k = model_.weights.cols();
    const Eigen::Map<const Matrix<double>> w(x.data(), d, k);
    const Eigen::Map<const Eigen::RowVectorXd> b(x.data() + d * k, k);
    parallel_for(chunks_, threads_, [&](Index c, int) {
      const auto at = static_cast<std::size_t>(c);
      const Index begin = c * kChunk, count = std::min(kChunk, samples_.count() - begin);
      const Matrix<double> in = inputs(model_, samples_.features, begin, count);
      Matrix<double> s = in * w;
      s.rowwise() += b;
      losses_[at] = 0;
      for (Index i = 0; i < count; ++i) losses_[at] += row_loss(s.row(i), samples_, begin + i, loss_);
      gradients_[at].resize(x.size());
      Eigen::Map<Matrix<double>>(gradients_[at].data(), d, k).noalias() = in.transpose() * s;
      Eigen::Map<Eigen::RowVectorXd>(gradients_[at].data() + d * k, k) = s.colwise().sum();
    });
    const auto n = static_cast<double>(samples_.count());
    double total = 0;
    gradient.setZero();
    for (std::size_t c = 0; c < losses_.size(); ++c) {
      total += losses_[c];
      gradient += gradients_[c];
    }
    gradient /= n;
    gradient.head(d * k) += model_.ridge * x.head(d * k);
    return total / n + model_.ridge / 2 * x.head(d * k).squaredNorm();
  }

 private:
  const LinearModel& model_;
  const Samples& samples_;
  LinearLoss loss_;
  int threads_;
  Index chunks_;
  std::vector<double> losses_;
  std::vector<Eigen::VectorXd> gradients_;
};

}  // namespace

double mean_loss(const Matrix<double>& scores, const Samples& samples, LinearLoss loss, Matrix<double>* error) {
  NUDGE_EXPECT(scores.rows() == samples.count() && scores.rows() > 0);
  Matrix<double> signal = scores;
  double total = 0;
  for (Index i = 0; i < signal.rows(); ++i) total += row_loss(signal.row(i), samples, i, loss);
  if (error != nullptr) *error = signal;
  return total / static_cast<double>(scores.rows());
}

Matrix<double> LinearModel::scores(const Matrix<float>& features) const {
  Matrix<double> out(features.rows(), weights.cols());
  for (Index begin = 0; begin < features.rows(); begin += kChunk) {
    const Index count = std::min(kChunk, features.rows() - begin);
    out.middleRows(begin, count) = inputs(*this, features, begin, count) * weights;
  }
  out.rowwise() += bias;
  return out;
}

LinearModel fit_linear_model(const Samples& training, Index outputs, LinearLoss loss, double ridge, int threads,
                             const LinearModel* start) {
  NUDGE_EXPECT(training.count() >= 1 && outputs >= 1 && ridge > 0);
  const Index d = training.features.cols();
  const auto n = static_cast<double>(training.count());
  LinearModel model;
  model.ridge = ridge;
  model.centre = Eigen::RowVectorXd::Zero(d);
  for (Index i = 0; i < training.count(); ++i) model.centre += training.features.row(i).cast<double>();
  model.centre /= n;
  double squares = 0;
  for (Index i = 0; i < training.count(); ++i) {
    squares += (training.features.row(i).cast<double>() - model.centre).squaredNorm();
  }
  if (squares > 0) model.width = std::sqrt(squares / (n * static_cast<double>(d)));
  model.weights = start != nullptr ? start->weights : Matrix<double>::Zero(d, outputs);
  model.bias = start != nullptr ? start->bias : Eigen::RowVectorXd::Zero(outputs);

  Eigen::VectorXd x((d + 1) * outputs);
  Eigen::Map<Matrix<double>>(x.data(), d, outputs) = model.weights;
  Eigen::Map<Eigen::RowVectorXd>(x.data() + d * outputs, outputs) = model.bias;
  RidgeObjective objective(model, training, loss, threads);
  model.fit = minimise([&](const Eigen::VectorXd& at, Eigen::VectorXd& g) { return objective(at, g); }, x,
                       std::sqrt(2 * ridge * kGap), kMostSteps);
  model.weights = Eigen::Map<const Matrix<double>>(x.data(), d, outputs);
  model.bias = Eigen::Map<const Eigen::RowVectorXd>(x.data() + d * outputs, outputs);
  return model;
}

LinearModel choose_linear_model(const Samples& training, const Samples& validation, Index outputs, LinearLoss loss,
                                int threads) {
  LinearModel best;
  double least = std::numeric_limits<double>::infinity();
  for (const double ridge : {1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5}) {
    LinearModel model =
        fit_linear_model(training, outputs, loss, ridge, threads, best.weights.size() > 0 ? &best : nullptr);
    const double found = mean_loss(model.scores(validation.features), validation, loss);
    if (!(found < least)) break;
    least = found;
    best = std::move(model);
  }
  return best;
}

}  // namespace nudge
