// SPDX-License-Identifier: Apache-2.0
// Search of the least deviance of pulses, by Fisher's scoring.
#include <algorithm>
#include <cmath>
#include <limits>

#include "devices/fit/fit_watch.hpp"
#include "devices/fit/pulse_residuals.hpp"
#include "sim/base/decompositions.hpp"
#include "sim/base/parallel.hpp"

namespace nudge {
namespace {

using Vector = Eigen::VectorXd;

constexpr double nudged = 1e-6;     // its error is 1e-6 f''/2, rounding 1e-15/1e-6; a bound may be known to 1e-6
constexpr int most_turns = 60;      // taking slopes
constexpr int most_turns_near = 8;  // with slopes of a place nearby
constexpr double longest_move = 3;  // of a coordinate, a logarithm or a logit: a factor 20
constexpr double most_damping = 1e10;
constexpr Index rows_at_once = 512;  // rows that stay in the cache

/// Least squares |A δ − b|² in triangular form: R of A, and Qᵀ b.
struct Triangle {
  Eigen::MatrixXd r;
  Vector c;
};

/// Adds rows [A b] to a triangle; what b leaves over is dropped.
void fold_rows(const Eigen::Ref<const Eigen::MatrixXd>& rows, Eigen::MatrixXd& triangle) {
  const Index n = triangle.cols();
  Eigen::MatrixXd stacked(n + rows.rows(), n);
  stacked << triangle, rows;
  leave_triangle(stacked);
  triangle = stacked.topRows(n).triangularView<Eigen::Upper>();
}

/// Move δ of least |R δ − c|² + damping Σ (|R_k| δ_k)², at most longest_move in each coordinate.
Vector damped_move(const Triangle& of, double damping) {
  const Index n = of.c.size();
  Vector move(n);
  if (damping > 0) {
    Eigen::MatrixXd triangle = Eigen::MatrixXd::Zero(n + 1, n + 1);
    triangle.topLeftCorner(n, n) = of.r;
    triangle.topRightCorner(n, 1) = of.c;
    Eigen::MatrixXd more = Eigen::MatrixXd::Zero(n, n + 1);
    for (Index k = 0; k < n; ++k) more(k, k) = std::sqrt(damping) * of.r.col(k).norm();
    fold_rows(more, triangle);
    move = triangle.topLeftCorner(n, n).triangularView<Eigen::Upper>().solve(triangle.topRightCorner(n, 1).col(0));
  } else {
    move = of.r.triangularView<Eigen::Upper>().solve(of.c);
  }
  const double longest = move.lpNorm<Eigen::Infinity>();
  if (longest > longest_move) move *= longest_move / longest;
  return move;
}

}  // namespace

PulseSlopes PulseResiduals::slopes_at(const Vector& all, const Prediction& here) const {
  PulseSlopes out{Eigen::MatrixXd::Zero(reads_, size()), Eigen::MatrixXd::Zero(reads_, size())};
  const auto used = static_cast<std::size_t>(thread_count(threads()));
  std::vector<DeviceSpec> specs(used, *spec_);
  std::vector<Prediction> places(used, here);
  parallel_for(size(), threads(), [&](Index k, int thread) {
    fit_time_point();
    Vector moved = all;
    moved[k] += nudged;
    Prediction& there = places[static_cast<std::size_t>(thread)];
    apply(moved, specs[static_cast<std::size_t>(thread)]);
    if (!predict_of(specs[static_cast<std::size_t>(thread)], moved, there)) return;
    out.errors.col(k) = (there.error - here.error) / nudged;
    out.variances.col(k) = (there.variance - here.variance) / nudged;
  });
  return out;
}

Eigen::MatrixXd PulseResiduals::information(const Vector& all, PulseSlopes* slopes) const {
  Prediction here(reads_);
  PulseSlopes own;
  PulseSlopes& slope = slopes != nullptr ? *slopes : own;
  slope = {};
  if (predict(all, here)) slope = slopes_at(all, here);
  return information(all, slope);
}

Eigen::MatrixXd PulseResiduals::information(const Vector& all, const PulseSlopes& slope) const {
  Prediction here(reads_);
  const Eigen::MatrixXd prior = weight_.array().square().matrix().asDiagonal();
  if (slope.errors.size() == 0 || !predict(all, here)) return prior;
  const Vector root = here.variance.cwiseInverse().cwiseSqrt();
  // Of a normal number with mean and variance that move: e'²/S + ½ (S'/S)².
  const Eigen::MatrixXd errors = root.asDiagonal() * slope.errors;
  const Eigen::MatrixXd variances = root.cwiseAbs2().asDiagonal() * slope.variances;
  return prior + errors.transpose() * errors + 0.5 * variances.transpose() * variances;
}

namespace {

/// Rows of reads [first, first + count) over the free coordinates.
Eigen::MatrixXd rows_of(const PulseResiduals::Prediction& here, const PulseSlopes& slope,
                        const std::vector<Index>& free, Index first, Index count) {
  const auto n = static_cast<Index>(free.size());
  Eigen::MatrixXd rows(2 * count, n + 1);
  const Eigen::ArrayXd per_S = here.variance.segment(first, count).array().inverse(), root = per_S.sqrt();
  const Eigen::ArrayXd z = here.error.segment(first, count).array() * root;
  for (Index j = 0; j < n; ++j) {
    const Index k = free[static_cast<std::size_t>(j)];
    rows.col(j).head(count) = slope.errors.col(k).segment(first, count).array() * root;
    rows.col(j).tail(count) = M_SQRT1_2 * slope.variances.col(k).segment(first, count).array() * per_S;
  }
  rows.col(n).head(count) = -z;
  rows.col(n).tail(count) = -M_SQRT1_2 * (1 - z.square());
  return rows;
}

/// Makes slopes lead from one prediction to another by `move` (Broyden, Math. Comp. 19:577 (1965)).
void correct_slopes(PulseSlopes& slope, const PulseResiduals::Prediction& from, const PulseResiduals::Prediction& to,
                    const Vector& move) {
  const double length = move.squaredNorm();
  if (!(length > 0)) return;
  const Vector off = (to.error - from.error - slope.errors * move) / length;
  const Vector off_variance = (to.variance - from.variance - slope.variances * move) / length;
  slope.errors.noalias() += off * move.transpose();
  slope.variances.noalias() += off_variance * move.transpose();
}

}  // namespace

/// Rows of the expected values and of the penalty, of which the deviance has the squares.
Eigen::MatrixXd PulseResiduals::prior_rows(const Vector& all, const std::vector<Index>& free) const {
  const auto n = static_cast<Index>(free.size());
  Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(n + 1, n + 1);
  const double root = std::sqrt(penalty(all));
  for (Index j = 0; j < n; ++j) {
    const Index k = free[static_cast<std::size_t>(j)];
    if (is_size_of_read_noise(k)) {  // √off is not linear, but its square is: off' = −2
      const double off = off_expected(all, k);
      rows(j, j) = off > 0 ? -1 / std::sqrt(off) : 0;
      rows(j, n) = -std::sqrt(off);
    } else {
      rows(j, j) = weight_[k];
      rows(j, n) = -(all[k] - expected_[k]) * weight_[k];
    }
    Vector moved = all;
    moved[k] += nudged;
    if (root > 0) rows(n, j) = (std::sqrt(penalty(moved)) - root) / nudged;
  }
  rows(n, n) = -root;
  return rows;
}

/// R of all rows, which stays until slopes are taken anew.
Eigen::MatrixXd PulseResiduals::triangle_of(const Vector& all, const Prediction& here, const PulseSlopes& slope,
                                            const std::vector<Index>& free) const {
  const auto n = static_cast<Index>(free.size());
  Eigen::MatrixXd triangle = Eigen::MatrixXd::Zero(n + 1, n + 1);
  for (Index first = 0; first < reads_; first += rows_at_once) {
    fold_rows(rows_of(here, slope, free, first, std::min(rows_at_once, reads_ - first)), triangle);
  }
  fold_rows(prior_rows(all, free), triangle);
  return triangle.topLeftCorner(n, n);
}

/// Minus half the gradient of the deviance over the free coordinates.
Vector PulseResiduals::descent_of(const Vector& all, const Prediction& here, const PulseSlopes& slope,
                                  const std::vector<Index>& free) const {
  const auto n = static_cast<Index>(free.size());
  const Eigen::ArrayXd per_S = here.variance.array().inverse();
  const Eigen::ArrayXd z2 = here.error.array().square() * per_S;
  const Vector by_error = (here.error.array() * per_S).matrix(), by_variance = (0.5 * (1 - z2) * per_S).matrix();
  const Eigen::MatrixXd prior = prior_rows(all, free);
  Vector out = prior.leftCols(n).transpose() * prior.col(n);
  for (Index j = 0; j < n; ++j) {
    const Index k = free[static_cast<std::size_t>(j)];
    out[j] -= slope.errors.col(k).dot(by_error) + slope.variances.col(k).dot(by_variance);
  }
  return out;
}

double PulseResiduals::descend(Vector& all, double enough, PulseSlopes* kept_slopes) const {
  std::vector<Index> free;
  for (Index k = 0; k < size(); ++k) {
    if (k != held_) free.push_back(k);
  }
  if (held_ >= 0) all[held_] = held_value_;
  Prediction here(reads_), there(reads_);
  double now = deviance_of(all, here);
  if (!std::isfinite(now)) return now;
  PulseSlopes own;
  PulseSlopes& slope = kept_slopes != nullptr ? *kept_slopes : own;
  bool taken = slope.errors.size() > 0, fresh = false, triangular = false;
  Triangle of;
  double damping = 0;
  const int most = kept_slopes != nullptr ? most_turns_near : most_turns;
  for (int turn = 0, small = 0; turn < most;) {
    fit_time_point();
    if (!taken) {
      slope = slopes_at(all, here);
      taken = fresh = true;
      triangular = false;
      ++turn;
    }
    if (!triangular) of.r = triangle_of(all, here, slope, free);
    triangular = true;
    of.c = of.r.triangularView<Eigen::Upper>().transpose().solve(descent_of(all, here, slope, free));
    if (!(of.c.squaredNorm() > enough) || small > 2) {
      if (fresh || kept_slopes != nullptr) break;
      taken = false;
      small = 0;
      continue;
    }
    const Vector move = damped_move(of, damping);
    Vector tried = all;
    for (std::size_t j = 0; j < free.size(); ++j) tried[free[j]] += move[static_cast<Index>(j)];
    const double value = move.allFinite() ? deviance_of(tried, there) : std::numeric_limits<double>::infinity();
    const double promised = of.c.squaredNorm() - (of.r * move - of.c).squaredNorm();
    const bool lower = value < now;
    const double gained = lower ? (now - value) / promised : 0;
    if (gained < 0.25 && !fresh) {  // the slopes are another place's
      taken = false;
    } else if (gained < 0.25) {
      damping = std::max(4 * damping, 1e-3);
      if (damping > most_damping) break;
    } else if (gained > 0.75) {
      damping = damping < 1e-3 ? 0 : damping / 8;
    }
    if (!lower) continue;
    small = now - value < enough ? small + 1 : 0;
    correct_slopes(slope, here, there, tried - all);
    fresh = false;
    all = tried;
    now = value;
    std::swap(here, there);
  }
  return now;
}

}  // namespace nudge
