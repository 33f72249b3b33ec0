// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/read_noise.hpp"

#include <algorithm>
#include <cmath>

namespace nudge {
namespace {

// Below this the variance of a mean over r time constants is taken from its series; the next term is r⁴ of it.
constexpr double small_duration = 1e-3;

/// Calls act(state, i) for every number i of the block.
template <class S, class Act>
void for_states(const LineBlock& block, Matrix<S>& states, Act act) {
  Index i = 0;
  for (Index n = 0; n < block.rows; ++n) {
    S* row = &states(n, block.first);
    for (Index j = 0; j < block.count; ++j) act(row[j], i++);
  }
  if (!block.common) return;
  for (Index n = 0; n < block.rows; ++n) act(states(n, block.lines), i++);
}

}  // namespace

template <class S>
void correlate(double rho, const LineBlock& block, Matrix<S>& states, S* numbers) {
  const auto keep = static_cast<S>(rho);
  const auto fresh = static_cast<S>(std::sqrt((1 - rho) * (1 + rho)));
  for_states(block, states, [&](S& x, Index i) {
    x = std::isnan(x) ? numbers[i] : keep * x + fresh * numbers[i];
    numbers[i] = x;
  });
}

ReadAverage::ReadAverage(double r) : rho(std::exp(-r)), a(1), b(0), c(0) {
  if (r == 0) return;
  const double lost = -std::expm1(-r);  // 1 − ρ
  a = lost / r;
  b = a * std::sqrt(lost / (1 + rho));
  const double rest = r < small_duration ? r / 6 : 2 * (r - lost) / (r * r) - a * a - b * b;
  c = std::sqrt(std::max(rest, 0.0));
}

template <class S>
void average(const ReadAverage& mean, const LineBlock& block, Matrix<S>& states, const S* n0, const S* n1, const S* n2,
             S* sums) {
  const auto rho = static_cast<S>(mean.rho);
  const auto fresh = static_cast<S>(std::sqrt((1 - mean.rho) * (1 + mean.rho)));
  const auto a = static_cast<S>(mean.a);
  const auto b = static_cast<S>(mean.b);
  const auto c = static_cast<S>(mean.c);
  for_states(block, states, [&](S& x, Index i) {
    if (std::isnan(x)) x = n0[i];
    sums[i] += a * x + b * n1[i] + c * n2[i];
    x = rho * x + fresh * n1[i];
  });
}

#define NUDGE_LINE_NOISE(S)                                             \
  template void correlate<S>(double, const LineBlock&, Matrix<S>&, S*); \
  template void average<S>(const ReadAverage&, const LineBlock&, Matrix<S>&, const S*, const S*, const S*, S*);
NUDGE_BOTH_PRECISIONS(NUDGE_LINE_NOISE)

}  // namespace nudge
