// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/sde.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

// Times are sums or products of dt in double: a multiple is recognised to this relative accuracy.
constexpr double kGridTolerance = 1e-6;
constexpr int kMaxLevel = 30;  // the node number 2^level + position must fit 32 bits

/// x as a whole number ≥ 0, or −1.
std::int64_t whole(double x) {
  const double nearest = std::round(x);
  if (!(nearest >= 0) || std::abs(x - nearest) > kGridTolerance * std::max(1.0, std::abs(x))) return -1;
  return static_cast<std::int64_t>(nearest);
}

}  // namespace

template <class S>
void WienerPath<S>::increment(double t, double dt, std::vector<S>& dw) {
  const std::int64_t multiple = whole(dt / base_);
  const double halvings = std::log2(base_ / dt);
  const std::int64_t level = multiple >= 1 ? 0 : whole(halvings);
  const double unit = multiple >= 1 ? base_ : dt;
  const std::int64_t first = whole(t / unit);
  if (!(dt > 0) || !(base_ > 0) || level < 0 || level > kMaxLevel || first < 0) {
    throw UserError(
        fmt::format("Wiener path: a step dt = {} at t = {} is not on the path's grid: dt must be {} times a "
                    "whole number or divided by a power of 2 up to 2^{}, and t a multiple of it",
                    dt, t, base_, kMaxLevel));
  }
  normals_.resize(dw.size());
  if (multiple < 1) {
    const auto in_base = static_cast<std::uint64_t>(1) << level;
    const auto index = static_cast<std::uint64_t>(first);
    bridge(index / in_base, static_cast<int>(level), static_cast<std::uint32_t>(index % in_base), dw);
    return;
  }
  std::fill(dw.begin(), dw.end(), S(0));
  const S scale = static_cast<S>(std::sqrt(base_));
  for (std::int64_t k = first; k < first + multiple; ++k) {
    fill_normal<S>(key_, static_cast<std::uint64_t>(k), 0, normals_);
    for (std::size_t i = 0; i < dw.size(); ++i) dw[i] += scale * normals_[i];
  }
}

// Lévy: given the increment D over an interval of length h, its halves are D/2 ± √h/2 · N with one standard normal N per
// interval. Interval p of level l is node 2^l + p of a binary tree, and the lane of its N; lane 0 is the base increment.
template <class S>
void WienerPath<S>::bridge(std::uint64_t base_index, int level, std::uint32_t position, std::vector<S>& dw) {
  fill_normal<S>(key_, base_index, 0, normals_);
  const S scale = static_cast<S>(std::sqrt(base_));
  for (std::size_t i = 0; i < dw.size(); ++i) dw[i] = scale * normals_[i];
  double length = base_;
  for (int l = 0; l < level; ++l, length /= 2) {
    const std::uint32_t node = (1U << l) + (position >> (level - l));
    const bool second_half = ((position >> (level - l - 1)) & 1U) != 0;
    fill_normal<S>(key_, base_index, node, normals_);
    const S half_width = static_cast<S>((second_half ? -0.5 : 0.5) * std::sqrt(length));
    for (std::size_t i = 0; i < dw.size(); ++i) dw[i] = S(0.5) * dw[i] + half_width * normals_[i];
  }
}

template class WienerPath<float>;
template class WienerPath<double>;

}  // namespace nudge
