// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_bake.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/decompositions.hpp"

namespace nudge {
namespace {

constexpr double times_apart = 3;
constexpr double shape_error = 0.03;  // of the spread: what a cubic may be off
constexpr double highest_eV = 4;
constexpr double no_curve_eV = 3.9;
constexpr int steps = 800;  // of 5 meV
constexpr double chi_square_95 = 3.841458820694124;

bool says_how_time_compares(const std::vector<BakePoint>& points) {
  for (const BakePoint& a : points) {
    for (const BakePoint& b : points) {
      if (a.temperature_K == b.temperature_K && b.time_s >= times_apart * a.time_s) return true;
    }
  }
  return false;
}

ActivationEstimate kinetic(const std::vector<BakePoint>& points, ActivationSource source) {
  ActivationEstimate e{0, std::numeric_limits<double>::infinity(), 0, source};
  for (const BakePoint& p : points) {
    const double barrier = boltzmann_eV_per_K * p.temperature_K * std::log(attempt_Hz * p.time_s);
    e.value_eV += barrier / static_cast<double>(points.size());
    e.low_eV = std::min(e.low_eV, barrier);
    e.high_eV = std::max(e.high_eV, barrier);
  }
  return e;
}

/// Weighted squares that the polynomials of all levels leave at an energy.
class Collapse {
 public:
  Collapse(const BakeData& data, const std::vector<std::vector<Moments>>& moments) : data_(&data), moments_(&moments) {}

  /// Degrees of freedom: values less the free numbers. Two curves of each level have two free numbers and two that are
  /// expected to be small; one energy is free.
  double freedom() const {
    const auto points = static_cast<double>(data_->points.size());
    return std::max(2 * static_cast<double>(moments_->size()) * (points - 2) - 1, 1.0);
  }

  double squares(double energy_eV) const {
    const auto n = static_cast<Eigen::Index>(data_->points.size());
    Eigen::VectorXd u(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const BakePoint& p = data_->points[static_cast<std::size_t>(i)];
      u[i] = std::log(p.time_s) - energy_eV / (boltzmann_eV_per_K * p.temperature_K);
    }
    u.array() -= u.mean();
    u /= std::max(u.cwiseAbs().maxCoeff(), 1e-12);
    double sum = 0;
    for (std::size_t l = 0; l < moments_->size(); ++l) {
      Eigen::VectorXd variance(n), variance_error(n), mean(n), mean_error(n);
      for (Eigen::Index i = 0; i < n; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const Moments& m = (*moments_)[l][k];
        const auto cells = static_cast<double>(data_->cells[l][k].changes_S.size());
        variance[i] = m.sd * m.sd;
        variance_error[i] = variance[i] * std::hypot(std::sqrt((m.kurtosis - 1) / cells), 2 * shape_error);
        mean[i] = m.mean;
        mean_error[i] = m.sd * std::hypot(1 / std::sqrt(cells), shape_error);
      }
      sum += rest(u, variance, variance_error) + rest(u, mean, mean_error);
    }
    return sum;
  }

 private:
  /// Squares that a cubic leaves whose bends are of the size of the range of y. A free cubic would thread points of one time
  /// and several temperatures at E near 0, where they lie side by side.
  static double rest(const Eigen::VectorXd& u, const Eigen::VectorXd& y, const Eigen::VectorXd& error) {
    const Eigen::Index n = u.size();
    Eigen::MatrixXd weighted = Eigen::MatrixXd::Zero(n + 2, 4);
    Eigen::VectorXd target = Eigen::VectorXd::Zero(n + 2);
    for (Eigen::Index i = 0; i < n; ++i) {
      weighted.row(i) << 1, u[i], u[i] * u[i], u[i] * u[i] * u[i];
      weighted.row(i) /= error[i];
      target[i] = y[i] / error[i];
    }
    const double range = std::max(y.maxCoeff() - y.minCoeff(), error.minCoeff());
    weighted(n, 2) = weighted(n + 1, 3) = 1 / range;
    return (weighted * least_squares<double>(weighted, target) - target).squaredNorm();
  }

  const BakeData* data_;
  const std::vector<std::vector<Moments>>* moments_;
};

}  // namespace

ActivationEstimate activation_of(const BakeData& data, const std::vector<std::vector<Moments>>& moments) {
  const Collapse collapse(data, moments);
  if (!says_how_time_compares(data.points) || data.points.size() < 4) {
    return kinetic(data.points, ActivationSource::kinetics);
  }
  std::vector<double> squares;
  for (int k = 0; k <= steps; ++k) squares.push_back(collapse.squares(highest_eV * k / steps));
  const auto best = std::min_element(squares.begin(), squares.end());
  const double allowed = *best + chi_square_95 * std::max(*best / collapse.freedom(), 1.0);
  const auto energy = [&](auto place) { return highest_eV * static_cast<double>(place - squares.begin()) / steps; };
  if (energy(best) > no_curve_eV) return kinetic(data.points, ActivationSource::no_curve);
  auto low = best;
  auto high = best;
  while (low != squares.begin() && *low <= allowed) --low;
  while (high + 1 != squares.end() && *high <= allowed) ++high;
  return {energy(best), energy(low), energy(high), ActivationSource::measured};
}

}  // namespace nudge
