// SPDX-License-Identifier: Apache-2.0
#include "training/data/linear_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/product.hpp"
#include "sim/base/softmax.hpp"
#include "training/data/scores.hpp"

namespace nudge {
namespace {

constexpr std::array<double, 6> kRidges = {1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5};
constexpr Index kParts = 32;  // sums of gradients: as many as threads have something to do, whatever their number
constexpr Index kCovarianceRows = 4096;   // some per feature that a covariance is made for
constexpr Index kMostCovariance = 2048;   // features: C and its factor are 64 MB, d³/3 operations for each λ
constexpr Index kChunkNumbers = 1 << 18;  // features or scores of a chunk: 1 MB, stays in a core's cache

/// Number of rows at a time: a function of the sizes alone.
Index chunk_rows(Index d, Index k) { return std::clamp<Index>(kChunkNumbers / std::max(d, k), 1, 1024); }

/// Returns the loss of one row, and replaces the scores s by its derivative.
double row_loss(Eigen::Ref<Eigen::RowVectorXf> s, const Samples& samples, Index i, LinearLoss loss) {
  if (loss == LinearLoss::squared) {
    s -= samples.values.row(i);
    return 0.5 * static_cast<double>(s.squaredNorm());
  }
  return static_cast<double>(cross_entropy_row(s, samples.labels[static_cast<std::size_t>(i)]));
}

/// Rows [begin, begin + count) of the samples, scaled for the model.
class Inputs {
 public:
  Inputs(const LinearModel& model, const Samples& samples)
      : samples_(samples), centre_(model.centre.cast<float>()), scale_(static_cast<float>(1 / model.width)) {}

  void take(Index begin, Index count, Matrix<float>& x) const {
    x = samples_.features.middleRows(begin, count);
    x.rowwise() -= centre_;
    x *= scale_;
  }

 private:
  const Samples& samples_;
  Eigen::RowVectorXf centre_;
  float scale_;
};

/// Objective mean loss + λ/2 |W|² and its gradient, parameters packed as W row by row, then b. Each of a fixed number
/// of parts of the rows has a sum of its own; the sums are added in their order.
class RidgeObjective {
 public:
  RidgeObjective(const LinearModel& model, const Samples& samples, LinearLoss loss, Index rows, const FitLimits& limits)
      : model_(model),
        samples_(samples),
        inputs_(model, samples),
        loss_(loss),
        rows_(rows),
        limits_(limits),
        parts_(std::min(kParts, rows)),
        losses_(static_cast<std::size_t>(parts_)),
        gradients_(static_cast<std::size_t>(parts_)),
        biases_(static_cast<std::size_t>(parts_)) {}

  double operator()(const Eigen::VectorXd& x, Eigen::VectorXd& gradient) {
    if (limits_.before_pass) limits_.before_pass();
    const Index d = model_.weights.rows(), k = model_.weights.cols();
    const Matrix<float> w = Eigen::Map<const Matrix<double>>(x.data(), d, k).cast<float>();
    const Eigen::RowVectorXf b = x.tail(k).transpose().cast<float>();
    parallel_for(parts_, limits_.threads, [&](Index part, int) { sum(part, w, b); });
    const auto n = static_cast<double>(rows_);
    double total = 0;
    gradient.setZero();
    Eigen::Map<Matrix<double>> in_weights(gradient.data(), d, k);
    for (std::size_t p = 0; p < losses_.size(); ++p) {
      total += losses_[p];
      in_weights += gradients_[p].cast<double>();
      gradient.tail(k) += biases_[p];
    }
    gradient /= n;
    gradient.head(d * k) += model_.ridge * x.head(d * k);
    return total / n + model_.ridge / 2 * x.head(d * k).squaredNorm();
  }

 private:
  void sum(Index part, const Matrix<float>& w, const Eigen::RowVectorXf& b) {
    const auto at = static_cast<std::size_t>(part);
    const Index chunk = chunk_rows(w.rows(), w.cols()), end = (part + 1) * rows_ / parts_;
    Matrix<float> x, s;
    losses_[at] = 0;
    gradients_[at].setZero(w.rows(), w.cols());
    biases_[at].setZero(w.cols());
    for (Index begin = part * rows_ / parts_; begin < end; begin += chunk) {
      const Index count = std::min(chunk, end - begin);
      inputs_.take(begin, count, x);
      s.resize(count, w.cols());
      multiply<float>(x, w, s);
      s.rowwise() += b;
      losses_[at] += take_losses(s, samples_, begin, loss_);
      multiply_outer<float>(x, s, 1.0F, gradients_[at]);
      biases_[at] += s.colwise().sum().transpose().cast<double>();
    }
  }

  const LinearModel& model_;
  const Samples& samples_;
  Inputs inputs_;
  LinearLoss loss_;
  Index rows_;
  const FitLimits& limits_;
  Index parts_;
  std::vector<double> losses_;
  std::vector<Matrix<float>> gradients_;
  std::vector<Eigen::VectorXd> biases_;
};

/// Preconditioner a C + λ of the weights, a of the bias; a bounds the Hessian of the loss in the scores.
class Curvature {
 public:
  Curvature(const LinearModel& model, const Samples& samples, LinearLoss loss, Index rows)
      : bound_(loss == LinearLoss::squared ? 1.0 : 0.5) {
    const Index d = samples.features.cols(), n = std::min(rows, kCovarianceRows);
    const Inputs inputs(model, samples);
    const Index chunk = chunk_rows(d, 1);
    Matrix<float> x, sum = Matrix<float>::Zero(d <= kMostCovariance ? d : 0, d);
    variances_.setZero(d);
    for (Index begin = 0; begin < n; begin += chunk) {
      inputs.take(begin, std::min(chunk, n - begin), x);
      if (sum.rows() > 0) multiply_outer<float>(x, x, 1.0F, sum);
      variances_ += x.colwise().squaredNorm().transpose().cast<double>();
    }
    variances_ /= static_cast<double>(n);
    covariance_ = sum.cast<double>() / static_cast<double>(n);
  }

  void set_ridge(double ridge) {
    ridge_ = ridge;
    if (covariance_.rows() == 0) return;
    Matrix<double> p = bound_ * covariance_;
    p.diagonal().array() += ridge;
    factor_.compute(p);
  }

  void solve(Eigen::VectorXd& v, Index k) const {
    const Index d = variances_.size();
    Eigen::Map<Matrix<double>> w(v.data(), d, k);
    if (covariance_.rows() > 0) {
      factor_.solve_in_place(w);
    } else {
      w.array().colwise() /= bound_ * variances_.array() + ridge_;
    }
    v.tail(k) /= bound_;
  }

 private:
  double bound_, ridge_ = 0;
  Eigen::VectorXd variances_;
  Matrix<double> covariance_;  // or nothing, where there are too many features
  CholeskyFactor factor_;
};

/// Makes a model with scaling and no weights yet.
LinearModel scaled_model(const Samples& training, Index rows) {
  const Index d = training.features.cols();
  const auto n = static_cast<double>(rows);
  LinearModel model;
  model.centre = Eigen::RowVectorXd::Zero(d);
  for (Index i = 0; i < rows; ++i) model.centre += training.features.row(i).cast<double>();
  model.centre /= n;
  double squares = 0;
  for (Index i = 0; i < rows; ++i) {
    squares += (training.features.row(i).cast<double>() - model.centre).squaredNorm();
  }
  if (squares > 0) model.width = std::sqrt(squares / (n * static_cast<double>(d)));
  return model;
}

Index used_rows(const Samples& training, const FitLimits& limits) {
  return limits.rows > 0 ? std::min(limits.rows, training.count()) : training.count();
}

/// Fits `model`, which has its scaling and its first weights. ridge: λ; curvature: the preconditioner, made for this
/// training part.
void fit(const Samples& training, LinearLoss loss, double ridge, const FitLimits& limits, Curvature& curvature,
         LinearModel& model) {
  const Index d = model.weights.rows(), k = model.weights.cols();
  model.ridge = ridge;
  curvature.set_ridge(ridge);
  Eigen::VectorXd x((d + 1) * k);
  Eigen::Map<Matrix<double>>(x.data(), d, k) = model.weights;
  x.tail(k) = model.bias.transpose();
  RidgeObjective objective(model, training, loss, used_rows(training, limits), limits);
  model.fit = minimise([&](const Eigen::VectorXd& at, Eigen::VectorXd& g) { return objective(at, g); }, x,
                       {limits.tolerance, limits.passes, [&](Eigen::VectorXd& v) { curvature.solve(v, k); }});
  model.weights = Eigen::Map<const Matrix<double>>(x.data(), d, k);
  model.bias = x.tail(k).transpose();
}

}  // namespace

double take_losses(Matrix<float>& scores, const Samples& samples, Index begin, LinearLoss loss) {
  double sum = 0;
  for (Index i = 0; i < scores.rows(); ++i) sum += row_loss(scores.row(i), samples, begin + i, loss);
  return sum;
}

LinearScore score(const LinearModel& model, const Samples& samples, LinearLoss loss, int threads) {
  NUDGE_EXPECT(samples.count() > 0);
  const Index d = model.weights.rows(), k = model.weights.cols(), chunk = chunk_rows(d, k);
  const Index chunks = (samples.count() + chunk - 1) / chunk;
  const Inputs inputs(model, samples);
  const Matrix<float> w = model.weights.cast<float>();
  const Eigen::RowVectorXf b = model.bias.cast<float>();
  std::vector<double> losses(static_cast<std::size_t>(chunks));
  std::vector<Index> found(losses.size(), 0);
  parallel_for(chunks, threads, [&](Index c, int) {
    const auto at = static_cast<std::size_t>(c);
    const Index begin = c * chunk, count = std::min(chunk, samples.count() - begin);
    Matrix<float> x, s(count, k);
    inputs.take(begin, count, x);
    multiply<float>(x, w, s);
    s.rowwise() += b;
    for (Index i = 0; i < count && loss == LinearLoss::cross_entropy; ++i) {
      const auto row = std::span<const float>(s.row(i).data(), static_cast<std::size_t>(k));
      found[at] += chosen_class<float>(row) == samples.labels[static_cast<std::size_t>(begin + i)] ? 1 : 0;
    }
    losses[at] = take_losses(s, samples, begin, loss);
  });
  LinearScore out;
  for (std::size_t c = 0; c < losses.size(); ++c) {
    out.loss += losses[c];
    out.accuracy += static_cast<double>(found[c]);
  }
  const auto n = static_cast<double>(samples.count());
  return {out.loss / n, out.accuracy / n};
}

LinearModel fit_linear_model(const Samples& training, Index outputs, LinearLoss loss, double ridge,
                             const FitLimits& limits, const LinearModel* start) {
  NUDGE_EXPECT(training.count() >= 1 && outputs >= 1 && ridge > 0);
  const Index rows = used_rows(training, limits), d = training.features.cols();
  LinearModel model = scaled_model(training, rows);
  model.weights = start != nullptr ? start->weights : Matrix<double>::Zero(d, outputs);
  model.bias = start != nullptr ? start->bias : Eigen::RowVectorXd::Zero(outputs);
  Curvature curvature(model, training, loss, rows);
  fit(training, loss, ridge, limits, curvature, model);
  return model;
}

double fit_operations(Index rows, Index features, Index outputs, const FitLimits& limits) {
  const auto n = static_cast<double>(rows), d = static_cast<double>(features), k = static_cast<double>(outputs);
  const double passes = static_cast<double>(kRidges.size()) * kPassesOnTheWay + limits.passes;
  double curvature = 0;
  if (features <= kMostCovariance) {
    const double solves = passes * d * d * k;
    curvature = d * d * std::min(n, static_cast<double>(kCovarianceRows)) + d * d * d + solves;
  }
  return passes * n * (2 * d * k + 16 * k + 2 * d) + curvature;
}

LinearModel choose_linear_model(const Samples& training, const Samples& validation, Index outputs, LinearLoss loss,
                                const FitLimits& limits) {
  NUDGE_EXPECT(training.count() >= 1 && outputs >= 1);
  const Index rows = used_rows(training, limits);
  LinearModel model = scaled_model(training, rows), best;
  model.weights = Matrix<double>::Zero(training.features.cols(), outputs);
  model.bias = Eigen::RowVectorXd::Zero(outputs);
  Curvature curvature(model, training, loss, rows);
  double least = std::numeric_limits<double>::infinity();
  FitLimits on_the_way = limits;
  on_the_way.passes = std::min(limits.passes, kPassesOnTheWay);
  for (const double ridge : kRidges) {
    fit(training, loss, ridge, on_the_way, curvature, model);
    const double found = score(model, validation, loss, limits.threads).loss;
    if (!(found < least)) break;
    least = found;
    best = model;
  }
  if (best.weights.size() == 0) return model;  // not finite
  fit(training, loss, best.ridge, limits, curvature, best);
  return best;
}

}  // namespace nudge
