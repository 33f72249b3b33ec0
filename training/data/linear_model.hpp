// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <functional>

#include "training/data/samples.hpp"

namespace nudge {

/// Function that returns f(x) and sets its gradient.
using Objective = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd& gradient)>;

struct MinimiseOptions {
  double tolerance = 0;      ///< tolerance of ½ gᵀ H g
  int most_evaluations = 0;  ///< most evaluations of the objective
  /// Preconditioner v ← P⁻¹ v, with P close to the Hessian; empty: v stays.
  std::function<void(Eigen::VectorXd& v)> precondition = {};
};

struct Minimum {
  double value = 0;
  double decrement = 0;  ///< ½ gᵀ H g: about the distance of `value` from the minimum
  int evaluations = 0;
  bool converged = false;  ///< decrement ≤ tolerance
};

/// Minimises a smooth convex function from x on. Stops when half its Newton decrement ½ gᵀ H g is at most the tolerance
/// (Boyd and Vandenberghe, Convex Optimization, 2004, section 9.5.1). The last steps give the inverse Hessian. Also
/// stops after `most_evaluations`, or when f falls no further in its precision. L-BFGS with 10 pairs (Liu and Nocedal,
/// Math. Program. 45:503, 1989, algorithm 2.1) on top of the preconditioner. Steps by bisection to the weak Wolfe
/// conditions, c₁ = 1e-4 and c₂ = 0.9 (Lewis and Overton, Math. Program. 141:135, 2013, algorithm 2.6). Deterministic.
Minimum minimise(const Objective& objective, Eigen::VectorXd& x, const MinimiseOptions& options);

/// Loss that a linear model is fitted by.
enum class LinearLoss {
  cross_entropy,  ///< multinomial logistic regression: −log softmax(s)[label]
  squared,        ///< ridge regression: ½ |s − y|²
};

/// Linear model s = ((x − centre)/width) W + b. centre (d) holds the means of the training split; width is the root mean
/// square of the centred training features. One width for all features keeps their relation, and λ means the same in
/// any unit.
struct LinearModel {
  Eigen::RowVectorXd centre;
  double width = 1;
  Matrix<double> weights;   ///< (d, k)
  Eigen::RowVectorXd bias;  ///< (k)
  double ridge = 0;         ///< λ
  Minimum fit;
};

/// Limits of a fit: a function of the config alone, so that its result has the same bits wherever it runs.
struct FitLimits {
  Index rows = 0;           ///< rows used: the first ones of the training split, whose order is random; 0: all
  double tolerance = 1e-4;  ///< tolerance of ½ gᵀ H g, nat (or 1)
  int passes = 30;          ///< most passes over the rows
  int threads = 0;          ///< number of threads; 0: all; does not change a bit of the result
  /// Called before each pass over the rows; throws to end the fit.
  std::function<void()> before_pass = {};
};

/// Minimises mean loss + λ/2 |W|² (the bias is free) over the samples by L-BFGS in double, products in float. Starts
/// from `start` (another fit of the same sizes) or zeros. The preconditioner is ½ C + λ for cross-entropy, an upper
/// bound of the Hessian (Böhning, Ann. Inst. Statist. Math. 44:197, 1992), and C + λ for squares. C is the covariance
/// of the first 4096 samples; its diagonal alone where d > 2048.
LinearModel fit_linear_model(const Samples& training, Index outputs, LinearLoss loss, double ridge,
                             const FitLimits& limits = {}, const LinearModel* start = nullptr);

/// Chooses the λ of 1, 0.1, …, 1e-5 with the smallest validation loss, and returns its model. Goes down from 1, with
/// kPassesOnTheWay passes for each λ, each fit starting at the last, until the validation loss rises for the first
/// time. Then fits the best λ within the limits.
LinearModel choose_linear_model(const Samples& training, const Samples& validation, Index outputs, LinearLoss loss,
                                const FitLimits& limits = {});

inline constexpr int kPassesOnTheWay = 10;

/// Largest number of multiply-adds of choose_linear_model() for `rows` rows; an exponential counts as 16.
double fit_operations(Index rows, Index features, Index outputs, const FitLimits& limits);

/// Most parameters (d + 1) k that a fit has room for: its vectors take about 300 bytes of memory per parameter.
inline constexpr Index kMostLinearParameters = Index{1} << 20;

/// Score of a linear model on samples: mean loss, and with labels the share whose class the largest score chooses.
struct LinearScore {
  double loss = 0, accuracy = 0;
};
LinearScore score(const LinearModel& model, const Samples& samples, LinearLoss loss, int threads = 0);

/// Sums the losses of the samples from row `begin` on, with `scores` (rows, k), and replaces `scores` by ∂loss/∂scores.
double take_losses(Matrix<float>& scores, const Samples& samples, Index begin, LinearLoss loss);

}  // namespace nudge
