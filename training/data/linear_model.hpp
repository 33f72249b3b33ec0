// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <functional>

#include "training/data/samples.hpp"

namespace nudge {

/// f(x) and its gradient.
using Objective = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd& gradient)>;

struct MinimiseOptions {
  double tolerance = 0;      ///< of ½ gᵀ H g
  int most_evaluations = 0;  ///< of the objective
  /// v ← P⁻¹ v, P about the Hessian; empty: v as it is.
  std::function<void(Eigen::VectorXd& v)> precondition = {};
};

struct Minimum {
  double value = 0;
  double decrement = 0;  ///< ½ gᵀ H g, about how far `value` is above the least one
  int evaluations = 0;
  bool converged = false;  ///< decrement ≤ tolerance
};

/// Minimises a smooth convex function from x on until half its Newton decrement ½ gᵀ H g, with the inverse Hessian H that the last steps
/// show, is at most the tolerance (Boyd and Vandenberghe, Convex Optimization, 2004, section 9.5.1), or `most_evaluations` are done, or f
/// falls no further in its precision. L-BFGS with 10 pairs (Liu and Nocedal, Math. Program. 45:503, 1989, algorithm 2.1) on top of the
/// preconditioner, steps by bisection to the weak Wolfe conditions, c₁ = 1e-4 and c₂ = 0.9 (Lewis and Overton, Math. Program. 141:135, 2013,
/// algorithm 2.6). Deterministic.
Minimum minimise(const Objective& objective, Eigen::VectorXd& x, const MinimiseOptions& options);

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
};

/// How far a fit goes; a function of the config alone, so that its result has the same bits wherever it runs.
struct FitLimits {
  Index rows = 0;           ///< of the training part, whose order is random: its first ones; 0: all
  double tolerance = 1e-4;  ///< nat (or 1), of ½ gᵀ H g
  int passes = 30;          ///< over the rows, at most
  int threads = 0;          ///< 0: all; they do not change a bit
  /// Called before each pass over the rows; throws to end the fit.
  std::function<void()> before_pass = {};
};

/// Minimises mean loss + λ/2 |W|² (the bias is free) over the samples from `start` (another fit of the same sizes, or zeros) by L-BFGS
/// in double, products in float. Its preconditioner is ½ C + λ for cross-entropy, an upper bound of the Hessian (Böhning, Ann. Inst. Statist. Math.
/// 44:197, 1992), and C + λ for squares, C the covariance of the first 4096 samples; its diagonal alone where d > 2048.
LinearModel fit_linear_model(const Samples& training, Index outputs, LinearLoss loss, double ridge,
                             const FitLimits& limits = {}, const LinearModel* start = nullptr);

/// The λ of 1, 0.1, …, 1e-5 with the smallest validation loss, and its model. Goes down from 1 with kPassesOnTheWay passes for each λ,
/// each fit starting at the last, until the validation loss rises for the first time; then fits the best one within the limits.
LinearModel choose_linear_model(const Samples& training, const Samples& validation, Index outputs, LinearLoss loss,
                                const FitLimits& limits = {});

inline constexpr int kPassesOnTheWay = 10;

/// Multiply-adds of choose_linear_model() for a number of rows, at most; an exponential counts as 16.
double fit_operations(Index rows, Index features, Index outputs, const FitLimits& limits);

/// Parameters (d + 1) k that a fit has room for: its vectors take about 300 bytes of memory a parameter.
inline constexpr Index kMostLinearParameters = Index{1} << 20;

/// Of samples: mean loss, and the share whose class the largest score chooses (of labels).
struct LinearScore {
  double loss = 0, accuracy = 0;
};
LinearScore score(const LinearModel& model, const Samples& samples, LinearLoss loss, int threads = 0);

/// Sum of the losses of rows `begin` and on of the samples, whose scores (rows, k) ∂loss/∂scores replaces.
double take_losses(Matrix<float>& scores, const Samples& samples, Index begin, LinearLoss loss);

}  // namespace nudge
