// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/data/lbfgs.hpp"
#include "training/data/samples.hpp"

namespace nudge {

/// What a linear model is fitted by.
enum class LinearLoss {
  cross_entropy,  ///< multinomial logistic regression: −log softmax(s)[label]
  squared,        ///< ridge regression: ½ |s − y|²
};

/// s = ((x − centre)/width) W + b: centre (d) are the training part's means, width is the root mean square of the centred
/// training features, one number, so that features keep their relation and λ means the same in any unit.
struct LinearModel {
  Eigen::RowVectorXd centre;
  double width = 1;
  Matrix<double> weights;   ///< (d, k)
  Eigen::RowVectorXd bias;  ///< (k)
  double ridge = 0;         ///< λ
  Minimum fit;

  /// (n, k): logits, or the values fitted.
  Matrix<double> scores(const Matrix<float>& features) const;
};

/// Minimises mean loss + λ/2 |W|² (the bias is free) over the samples, by L-BFGS in double from `start` (another fit of the
/// same sizes, or zeros) to |∇|² ≤ 2 λ 1e-6: the objective, λ-strongly convex in W, is then within about 1e-6 nat of its
/// minimum. Chunks of samples are summed in a fixed order: the same bits for any number of threads (0: all).
LinearModel fit_linear_model(const Samples& training, Index outputs, LinearLoss loss, double ridge, int threads,
                             const LinearModel* start = nullptr);

/// The λ of 1, 0.1, …, 1e-5 with the smallest validation loss, and its model. Goes down from 1, each fit starting at the last, and
/// stops where the validation loss rises for the first time.
LinearModel choose_linear_model(const Samples& training, const Samples& validation, Index outputs, LinearLoss loss,
                                int threads);

/// Mean loss of scores (n, k) of these samples, and ∂(sum of losses)/∂scores into `error` where that is not null.
double mean_loss(const Matrix<double>& scores, const Samples& samples, LinearLoss loss,
                 Matrix<double>* error = nullptr);

}  // namespace nudge
