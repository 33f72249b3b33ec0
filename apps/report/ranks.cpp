// SPDX-License-Identifier: Apache-2.0
// Rank statistics of sweeps.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"

namespace nudge::report {
namespace {

/// Ranks of the values less their mean. Ties share their mean rank.
Eigen::ArrayXd centred_ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  Eigen::ArrayXd out(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i)
      out[static_cast<Index>(order[i])] = 0.5 * static_cast<double>(begin + end);
    begin = end;
  }
  return out - 0.5 * static_cast<double>(values.size());
}

}  // namespace

double rank_correlation(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> a, b;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (!std::isfinite(x[i]) || std::isnan(y[i])) continue;
    a.push_back(x[i]);
    b.push_back(y[i]);
  }
  if (a.size() < 3) return no_value;
  const Eigen::ArrayXd u = centred_ranks(a), v = centred_ranks(b);
  return (u * v).sum() / std::sqrt(u.square().sum() * v.square().sum());  // NaN where one of them never changes
}

double rank_ratio(const std::vector<std::string>& names, const std::vector<double>& y) {
  std::vector<std::string> known;
  std::vector<std::size_t> group;
  std::vector<double> measured;
  for (std::size_t i = 0; i < std::min(names.size(), y.size()); ++i) {
    if (std::isnan(y[i])) continue;
    group.push_back(place(known, names[i]));
    measured.push_back(y[i]);
  }
  const auto n = static_cast<double>(measured.size()), k = static_cast<double>(known.size());
  if (n < 3 || k < 2 || k == n) return no_value;
  const Eigen::ArrayXd rank = centred_ranks(measured);
  Eigen::ArrayXd sum = Eigen::ArrayXd::Zero(static_cast<Index>(known.size())), count = sum;
  for (Index i = 0; i < rank.size(); ++i) {
    const auto g = static_cast<Index>(group[static_cast<std::size_t>(i)]);
    sum[g] += rank[i];
    count[g] += 1;
  }
  const double all = rank.square().sum();
  if (all == 0) return no_value;  // y never changes
  const double between = (sum.square() / count).sum();
  return std::sqrt(std::max(0.0, 1 - (1 - between / all) * (n - 1) / (n - k)));
}

}  // namespace nudge::report
