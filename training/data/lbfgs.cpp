// SPDX-License-Identifier: Apache-2.0
#include "training/data/linear_model.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

namespace nudge {
namespace {

using Vector = Eigen::VectorXd;

struct Pair {
  Vector s, y;         // change of x and of the gradient
  double rho;          // 1/(s·y)
  double scale = 1.0;  // s·y / y·P⁻¹y: P times this has the curvature that was seen along the step
};

/// Computes −H g with the inverse Hessian that the preconditioner and the pairs describe (two-loop recursion).
Vector descent(const std::deque<Pair>& pairs, const Vector& gradient, const MinimiseOptions& options) {
  Vector q = -gradient;
  std::vector<double> alpha(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    alpha[i] = pairs[i].rho * pairs[i].s.dot(q);
    q -= alpha[i] * pairs[i].y;
  }
  if (options.precondition) options.precondition(q);
  if (!pairs.empty()) q *= pairs.back().scale;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    q += (alpha[i] - pairs[i].rho * pairs[i].y.dot(q)) * pairs[i].s;
  }
  return q;
}

struct Point {
  Vector x, gradient;
  double value = 0;
};

/// Finds a point `to` along the direction that meets the weak Wolfe conditions; false where none was found in `most`
/// trials. step: the first to try; trials: evaluations done.
bool line_search(const Objective& objective, const Point& from, const Vector& direction, double step, int most,
                 Point& to, int& trials) {
  constexpr double kDecrease = 1e-4, kCurvature = 0.9;
  const double slope = from.gradient.dot(direction);
  double low = 0, high = std::numeric_limits<double>::infinity();
  for (trials = 0; trials < std::min(most, 50);) {
    to.x = from.x + step * direction;
    to.value = objective(to.x, to.gradient);
    ++trials;
    if (!(to.value <= from.value + kDecrease * step * slope)) {
      high = step;
    } else if (to.gradient.dot(direction) < kCurvature * slope) {
      low = step;
    } else {
      return true;
    }
    step = high < std::numeric_limits<double>::infinity() ? (low + high) / 2 : 2 * low;
  }
  return false;
}

}  // namespace

Minimum minimise(const Objective& objective, Eigen::VectorXd& x, const MinimiseOptions& options) {
  constexpr std::size_t kPairs = 10, kTrusted = 3;
  Point here{x, Vector(x.size()), 0}, next{Vector(x.size()), Vector(x.size()), 0};
  here.value = objective(here.x, here.gradient);
  std::deque<Pair> pairs;
  Minimum out;
  out.evaluations = 1;
  for (;;) {
    Vector direction = descent(pairs, here.gradient, options);
    if (!(direction.dot(here.gradient) < 0)) {
      pairs.clear();
      direction = descent(pairs, here.gradient, options);
    }
    out.decrement = -direction.dot(here.gradient) / 2;
    // Before some steps have shown the curvature, the decrement is that of the preconditioner, which may be far too small.
    const double enough = pairs.size() >= kTrusted ? options.tolerance : options.tolerance / 100;
    out.converged = out.decrement <= enough;
    const int left = options.most_evaluations - out.evaluations;
    if (out.converged || left <= 0) break;
    const bool unscaled = pairs.empty() && !options.precondition;
    const double first = unscaled ? std::min(1.0, 1 / here.gradient.norm()) : 1.0;
    int trials = 0;
    const bool found = line_search(objective, here, direction, first, left, next, trials);
    out.evaluations += trials;
    if (!found) {  // f falls no further in its precision
      out.converged = out.decrement <= options.tolerance;
      break;
    }
    Pair pair{next.x - here.x, next.gradient - here.gradient, 0};
    const double curvature = pair.s.dot(pair.y);
    if (curvature > 0) {
      Vector preconditioned = pair.y;
      if (options.precondition) options.precondition(preconditioned);
      pair.rho = 1 / curvature;
      pair.scale = curvature / pair.y.dot(preconditioned);
      pairs.push_back(std::move(pair));
      if (pairs.size() > kPairs) pairs.pop_front();
    }
    std::swap(here, next);
  }
  x = here.x;
  out.value = here.value;
  return out;
}

}  // namespace nudge
