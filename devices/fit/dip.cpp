// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/dip.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Distribution function of distinct values: its value just below and at each.
struct Distribution {
  std::vector<double> x, below, at;
};

Distribution distribution_of(const std::vector<double>& sorted) {
  Distribution f;
  const auto n = static_cast<double>(sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double to = static_cast<double>(i + 1) / n;
    if (!f.x.empty() && f.x.back() == sorted[i]) {
      f.at.back() = to;
      continue;
    }
    f.x.push_back(sorted[i]);
    f.below.push_back(static_cast<double>(i) / n);
    f.at.push_back(to);
  }
  return f;
}

/// Greatest convex minorant (sign 1) or least concave majorant (−1) of y over x within [from, to]: its values, and where it touches.
struct Hull {
  std::vector<double> y;             ///< at from, from + 1, ..., to
  std::vector<std::size_t> touches;  ///< places in x
};

Hull hull_of(const std::vector<double>& x, const std::vector<double>& y, std::size_t from, std::size_t to,
             double sign) {
  Hull hull;
  std::vector<std::size_t>& t = hull.touches;
  for (std::size_t k = from; k <= to; ++k) {
    const auto bends = [&](std::size_t a, std::size_t b) {  // b lies above the chord from a to k
      return sign * ((y[b] - y[a]) * (x[k] - x[a]) - (y[k] - y[a]) * (x[b] - x[a])) >= 0;
    };
    while (t.size() > 1 && bends(t[t.size() - 2], t.back())) t.pop_back();
    t.push_back(k);
  }
  for (std::size_t k = from, s = 0; k <= to; ++k) {
    while (s + 1 < t.size() && t[s + 1] <= k) ++s;
    const std::size_t a = t[s];
    if (a == k) {
      hull.y.push_back(y[k]);
      continue;
    }
    const std::size_t b = t[s + 1];
    hull.y.push_back(y[a] + (y[b] - y[a]) * (x[k] - x[a]) / (x[b] - x[a]));
  }
  return hull;
}

}  // namespace

double dip_of(std::vector<double> values) {
  NUDGE_EXPECT(!values.empty());
  std::sort(values.begin(), values.end());
  const Distribution f = distribution_of(values);
  double dip = 1 / static_cast<double>(values.size());
  std::size_t from = 0, to = f.x.size() - 1;
  while (true) {  // the interval that holds the mode shrinks
    const Hull low = hull_of(f.x, f.below, from, to, 1), high = hull_of(f.x, f.at, from, to, -1);
    double gap = 0;
    std::size_t left = from, right = to;
    for (const std::size_t k : low.touches) {
      if (high.y[k - from] - low.y[k - from] <= gap) continue;
      gap = high.y[k - from] - low.y[k - from];
      left = k;
      right = *std::lower_bound(high.touches.begin(), high.touches.end(), k);
    }
    for (const std::size_t k : high.touches) {
      if (high.y[k - from] - low.y[k - from] <= gap) continue;
      gap = high.y[k - from] - low.y[k - from];
      right = k;
      left = *std::prev(std::upper_bound(low.touches.begin(), low.touches.end(), k));
    }
    if (gap <= dip) break;
    for (std::size_t k = from; k <= left; ++k) dip = std::max(dip, f.at[k] - low.y[k - from]);
    for (std::size_t k = right; k <= to; ++k) dip = std::max(dip, high.y[k - from] - f.below[k]);
    if (left == from && right == to) break;
    from = left;
    to = right;
  }
  return dip / 2;
}

bool has_two_modes(const std::vector<double>& values) {
  constexpr double limit = 0.72;
  return std::sqrt(static_cast<double>(values.size())) * dip_of(values) > limit;
}

}  // namespace nudge
