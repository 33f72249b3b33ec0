// SPDX-License-Identifier: Apache-2.0
#include "training/data/lbfgs.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

namespace nudge {
namespace {

using Vector = Eigen::VectorXd;

struct Pair {
  Vector s, y;  // change of x and of the gradient
  double rho;   // 1/(s·y)
};

/// −H g with the inverse Hessian that the pairs describe (two-loop recursion).
Vector descent(const std::deque<Pair>& pairs, const Vector& gradient) {
  Vector q = -gradient;
  std::vector<double> alpha(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    alpha[i] = pairs[i].rho * pairs[i].s.dot(q);
    q -= alpha[i] * pairs[i].y;
  }
  if (!pairs.empty()) q *= 1 / (pairs.back().rho * pairs.back().y.squaredNorm());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    q += (alpha[i] - pairs[i].rho * pairs[i].y.dot(q)) * pairs[i].s;
  }
  return q;
}

struct Point {
  Vector x, gradient;
  double value = 0;
};

/// A point along the direction that meets the weak Wolfe conditions; false where none was found in 50 bisections.
bool line_search(const Objective& objective, const Point& from, const Vector& direction, double step, Point& to) {
  constexpr double kDecrease = 1e-4, kCurvature = 0.9;
  const double slope = from.gradient.dot(direction);
  double low = 0, high = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial < 50; ++trial) {
    to.x = from.x + step * direction;
    to.value = objective(to.x, to.gradient);
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

Minimum minimise(const Objective& objective, Eigen::VectorXd& x, double tolerance, int most_steps) {
  constexpr std::size_t kPairs = 10;
  Point here{x, Vector(x.size()), 0}, next{Vector(x.size()), Vector(x.size()), 0};
  here.value = objective(here.x, here.gradient);
  std::deque<Pair> pairs;
  Minimum out;
  while (here.gradient.norm() > tolerance && out.steps < most_steps) {
    Vector direction = descent(pairs, here.gradient);
    if (!(direction.dot(here.gradient) < 0)) {
      pairs.clear();
      direction = -here.gradient;
    }
    const double first = pairs.empty() ? std::min(1.0, 1 / here.gradient.norm()) : 1.0;
    if (!line_search(objective, here, direction, first, next)) break;
    Pair pair{next.x - here.x, next.gradient - here.gradient, 0};
    const double curvature = pair.s.dot(pair.y);
    if (curvature > 0) {
      pair.rho = 1 / curvature;
      pairs.push_back(std::move(pair));
      if (pairs.size() > kPairs) pairs.pop_front();
    }
    std::swap(here, next);
    ++out.steps;
  }
  x = here.x;
  out.value = here.value;
  out.gradient_norm = here.gradient.norm();
  out.converged = out.gradient_norm <= tolerance;
  return out;
}

}  // namespace nudge
