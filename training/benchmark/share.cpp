// SPDX-License-Identifier: Apache-2.0
#include "training/benchmark/share.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"
#include "sim/base/statistics.hpp"

namespace nudge {
namespace {

/// Means of pairs, and their variances and covariance (divisor n − 1).
struct PairMoments {
  double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
};

PairMoments moments_of(const std::vector<double>& x, const std::vector<double>& y) {
  PairMoments m;
  const auto n = static_cast<double>(x.size());
  for (std::size_t s = 0; s < x.size(); ++s) {
    m.x += x[s] / n;
    m.y += y[s] / n;
  }
  for (std::size_t s = 0; s < x.size(); ++s) {
    m.xx += (x[s] - m.x) * (x[s] - m.x) / (n - 1);
    m.xy += (x[s] - m.x) * (y[s] - m.y) / (n - 1);
    m.yy += (y[s] - m.y) * (y[s] - m.y) / (n - 1);
  }
  return m;
}

Share no_share(std::string why) {
  Share out;
  out.unknown = std::move(why);
  return out;
}

}  // namespace

Share learnt_share(std::span<const double> device, std::span<const double> exact, std::span<const double> null,
                   double better, int comparisons) {
  NUDGE_EXPECT(device.size() == exact.size() && device.size() == null.size() && comparisons >= 1);
  const std::size_t n = device.size();
  if (n < 2) return no_share("fewer than two seeds have no interval");
  std::vector<double> x, y;
  for (std::size_t s = 0; s < n; ++s) {
    x.push_back(better * (device[s] - null[s]));
    y.push_back(better * (exact[s] - null[s]));
    if (!std::isfinite(x.back()) || !std::isfinite(y.back())) return no_share("a run failed");
  }
  const PairMoments m = moments_of(x, y);
  if (m.xx == 0 && m.yy == 0) return no_share("all seeds have the same scores, which do not say how they scatter");
  const double t = student_t_quantile(1 - 0.05 / (2 * comparisons), static_cast<int>(n) - 1);
  const double q = t * t / static_cast<double>(n);
  // a rho² − 2 b rho + c ≤ 0. With a > 0 its roots are real: the left side is −q var(d) ≤ 0 at rho = x/y.
  const double a = m.y * m.y - q * m.yy, b = m.x * m.y - q * m.xy, c = m.x * m.x - q * m.xx;
  if (!(a > 0) || !(m.y > 0)) return no_share("digital weights are not significantly better than the strongest null");
  const double root = std::sqrt(std::max(0.0, b * b - a * c));
  return {m.x / m.y, (b - root) / a, (b + root) / a, {}};
}

Share mean_share(const std::vector<Share>& shares) {
  NUDGE_EXPECT(!shares.empty());
  Share mean{0, 0, 0, {}};
  for (const Share& one : shares) {
    if (!one.known()) return one;
    const auto n = static_cast<double>(shares.size());
    mean.value += one.value / n;
    mean.low += one.low / n;
    mean.high += one.high / n;
  }
  return mean;
}

std::vector<RankRange> rank_ranges(const std::vector<Share>& shares) {
  std::vector<RankRange> ranks;
  for (const Share& own : shares) {
    NUDGE_EXPECT(own.known());
    RankRange rank{1, 1, static_cast<int>(shares.size()), static_cast<int>(shares.size())};
    for (const Share& other : shares) {
      rank.rank += other.value > own.value ? 1 : 0;
      rank.first += other.low > own.high ? 1 : 0;
      rank.last -= other.high < own.low ? 1 : 0;
    }
    ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace nudge
