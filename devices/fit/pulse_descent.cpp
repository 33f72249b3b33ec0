// SPDX-License-Identifier: Apache-2.0
// Search of the least deviance of pulses, by Fisher's scoring.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

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
constexpr auto side_by_side = static_cast<Index>(filter_lanes);

/// Least squares |A δ − b|² in triangular form: R of A, and Qᵀ b.
struct Triangle {
  Eigen::MatrixXd r;
  Vector c;
};

/// R of A = Q R. The products AᵀA tell it where its columns, scaled to length 1, are not nearly dependent: half of the digits then suffice for
/// a search. Otherwise reflections do, which are several times as slow.
class RowTriangle {
 public:
  explicit RowTriangle(Index columns)
      : products_(Eigen::MatrixXd::Zero(columns, columns)), folded_(Eigen::MatrixXd::Zero(columns, columns)) {}

  void add(const Eigen::MatrixXd& rows) {
    constexpr Index few = 128;  // rows: packing them for a kernel would take longer than their products
    if (rows.rows() > few) return products_.selfadjointView<Eigen::Lower>().rankUpdate(rows.transpose()), void();
    products_.noalias() += rows.transpose().lazyProduct(rows);
  }
  /// Adds rows for reflections.
  void fold(const Eigen::MatrixXd& rows) {
    Eigen::MatrixXd stacked(folded_.rows() + rows.rows(), rows.cols());
    stacked << folded_, rows;
    leave_triangle(stacked);
    folded_ = stacked.topRows(rows.cols()).triangularView<Eigen::Upper>();
  }
  const Eigen::MatrixXd& folded() const { return folded_; }

  /// R by the products; absent where they do not hold enough digits.
  std::optional<Eigen::MatrixXd> by_products() const {
    constexpr double least_pivot = 1e-5;  // its square is 10^6 times the rounding of the products
    const Vector length = products_.diagonal().cwiseSqrt();
    if (!(length.minCoeff() > 0) || !length.allFinite()) return std::nullopt;
    Eigen::MatrixXd r = Eigen::MatrixXd::Zero(length.size(), length.size());
    for (Index j = 0; j < r.cols(); ++j) {  // Cholesky's columns, which end at a pivot that is too small
      const double pivot2 = products_(j, j) - r.col(j).head(j).squaredNorm();
      if (!(pivot2 > least_pivot * least_pivot * products_(j, j))) return std::nullopt;
      r(j, j) = std::sqrt(pivot2);
      for (Index i = j + 1; i < r.cols(); ++i) {
        r(j, i) = (products_(i, j) - r.col(j).head(j).dot(r.col(i).head(j))) / r(j, j);
      }
    }
    return r;
  }

 private:
  Eigen::MatrixXd products_, folded_;
};

Eigen::MatrixXd triangle_of_rows(const Eigen::MatrixXd& rows) {
  RowTriangle triangle(rows.cols());
  triangle.add(rows);
  if (auto r = triangle.by_products()) return *r;
  triangle.fold(rows);
  return triangle.folded();
}

enum class LongMove { scaled, of_others };

/// Move δ of least |R δ − c|² + damping Σ (|R_k| δ_k)². No coordinate goes farther than longest_move: all are scaled down, or one that would go
/// so far goes so far alone and the others follow it. So a number that the record does not tell does not stop the others; but from afar a
/// search would leap.
Vector damped_move(const Triangle& of, double damping, LongMove when_long) {
  const Index n = of.c.size();
  if (damping == 0) {
    const Vector whole = of.r.triangularView<Eigen::Upper>().solve(of.c);
    if (whole.lpNorm<Eigen::Infinity>() <= longest_move) return whole;
  }
  Eigen::MatrixXd rows(damping > 0 ? 2 * n : n, n);
  rows.topRows(n) = of.r;
  if (damping > 0) rows.bottomRows(n) = (std::sqrt(damping) * of.r.colwise().norm()).asDiagonal();
  Vector right = Vector::Zero(rows.rows());
  right.head(n) = of.c;
  Vector move = Vector::Zero(n);
  std::vector<Index> free(static_cast<std::size_t>(n));
  std::iota(free.begin(), free.end(), Index{0});
  Vector scaled;
  while (!free.empty()) {
    const Eigen::MatrixXd part = rows(Eigen::all, free);
    const Eigen::MatrixXd r = triangle_of_rows(part);
    Vector found = r.triangularView<Eigen::Upper>().transpose().solve(part.transpose() * right);
    r.triangularView<Eigen::Upper>().solveInPlace(found);
    move(free) = found;
    if (!(found.lpNorm<Eigen::Infinity>() > longest_move)) break;
    if (scaled.size() == 0) scaled = move * (longest_move / found.lpNorm<Eigen::Infinity>());
    if (when_long == LongMove::scaled) return scaled;
    const std::vector<Index> before = std::move(free);
    free.clear();
    for (const Index k : before) {
      if (std::abs(move[k]) <= longest_move) {
        free.push_back(k);
        continue;
      }
      move[k] = std::copysign(longest_move, move[k]);
      right -= move[k] * rows.col(k);
    }
  }
  const auto off = [&](const Vector& x) { return (of.r * x - of.c).squaredNorm(); };
  return scaled.size() > 0 && off(scaled) < off(move) ? scaled : move;
}

}  // namespace

PulseSlopes PulseResiduals::slopes_at(const Vector& all, const Prediction& here) const {
  PulseSlopes out{Eigen::MatrixXd::Zero(reads_, size()), Eigen::MatrixXd::Zero(reads_, size())};
  const auto used = static_cast<std::size_t>(thread_count(threads()));
  std::vector<DeviceSpec> specs(used, *spec_);
  const Index groups = (size() + side_by_side - 1) / side_by_side;
  parallel_for(groups, threads(), [&](Index group, int thread) {
    fit_time_point();
    slopes_from(group * side_by_side, all, here, specs[static_cast<std::size_t>(thread)], out);
  });
  return out;
}

/// Derivatives by the coordinates from `first` on.
void PulseResiduals::slopes_from(Index first, const Vector& all, const Prediction& here, DeviceSpec& scratch,
                                 PulseSlopes& out) const {
  std::vector<PulseLaw> laws;
  std::vector<RecordNoise> noise;
  for (Index l = 0; l < side_by_side; ++l) {
    Vector moved = all;
    moved[std::min(first + l, size() - 1)] += nudged;
    apply(moved, scratch);
    laws.emplace_back(scratch, *model_);
    noise.push_back(noise_of(moved));
  }
  std::vector<double> error(static_cast<std::size_t>(reads_ * side_by_side)), variance(error.size());
  filter_records(laws, noise, *records_, error, variance);
  using Strided = Eigen::Map<Vector, 0, Eigen::InnerStride<side_by_side>>;
  for (Index l = 0; l < side_by_side && first + l < size(); ++l) {
    const Vector e = (Strided(error.data() + l, reads_) / range_S_ - here.error) / nudged;
    const Vector v = (Strided(variance.data() + l, reads_) / (range_S_ * range_S_) - here.variance) / nudged;
    if (!e.allFinite() || !v.allFinite()) continue;
    out.errors.col(first + l) = e;
    out.variances.col(first + l) = v;
  }
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
  Eigen::MatrixXd rows(2 * count, n);
  const Eigen::ArrayXd per_S = here.variance.segment(first, count).array().inverse(), root = per_S.sqrt();
  for (Index j = 0; j < n; ++j) {
    const Index k = free[static_cast<std::size_t>(j)];
    rows.col(j).head(count) = slope.errors.col(k).segment(first, count).array() * root;
    rows.col(j).tail(count) = M_SQRT1_2 * slope.variances.col(k).segment(first, count).array() * per_S;
  }
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
  RowTriangle triangle(n);
  const auto each = [&](const auto& add) {
    for (Index first = 0; first < reads_; first += rows_at_once) {
      add(rows_of(here, slope, free, first, std::min(rows_at_once, reads_ - first)));
    }
    add(prior_rows(all, free).leftCols(n));
  };
  each([&](const Eigen::MatrixXd& rows) { triangle.add(rows); });
  if (auto r = triangle.by_products()) return *r;
  each([&](const Eigen::MatrixXd& rows) { triangle.fold(rows); });
  return triangle.folded();
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
  double damping = 0, growth = 4;
  const LongMove when_long = kept_slopes != nullptr ? LongMove::of_others : LongMove::scaled;
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
    const Vector move = damped_move(of, damping, when_long);
    Vector tried = all;
    for (std::size_t j = 0; j < free.size(); ++j) tried[free[j]] += move[static_cast<Index>(j)];
    const double value = move.allFinite() ? deviance_of(tried, there) : std::numeric_limits<double>::infinity();
    const double promised = of.c.squaredNorm() - (of.r * move - of.c).squaredNorm();
    const bool lower = value < now;
    const double gained = lower ? (now - value) / promised : 0;
    if (gained < 0.25 && !fresh) {  // the slopes are another place's
      taken = false;
    } else if (gained < 0.25) {
      damping = std::max(growth * damping, 1e-3);  // ever faster, as in Nielsen, IMM-REP-1999-05 (Tech. Univ. Denmark)
      growth *= 2;
      if (damping > most_damping) break;
    } else if (gained > 0.75) {
      damping = damping < 1e-3 ? 0 : damping / 8;
    }
    if (!lower) continue;
    growth = 4;
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
