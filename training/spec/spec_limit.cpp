// SPDX-License-Identifier: Apache-2.0
#include "training/spec/spec_limit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/errors.hpp"
#include "sim/base/statistics.hpp"
#include "training/sweep/spread.hpp"

namespace nudge {
namespace {

constexpr double kNoEnd = std::numeric_limits<double>::infinity();

/// Numbers of the trials in the order of their positions.
std::vector<std::size_t> by_position(const std::vector<SpecTrial>& trials) {
  std::vector<std::size_t> order(trials.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return trials[a].u < trials[b].u; });
  return order;
}

/// Last trial below the bound in front of the first one above it, and that one; in the order of positions.
struct Bracket {
  std::optional<std::size_t> below, above;
};

Bracket bracket_of(const std::vector<SpecTrial>& trials) {
  Bracket out;
  for (const std::size_t i : by_position(trials)) {
    if (trials[i].excess.mean > 0) {
      out.above = i;
      return out;
    }
    out.below = i;
  }
  return out;
}

}  // namespace

double binomial_floor(double accuracy, double samples) {
  NUDGE_EXPECT(samples > 0);
  const double all = samples + 4, right = (std::clamp(accuracy, 0.0, 1.0) * samples + 2) / all;
  return std::sqrt(right * (1 - right) / all);
}

SpecTest paired_test(std::span<const double> differences, double accuracy, double samples, int tests) {
  NUDGE_EXPECT(tests >= 1);
  const std::size_t n = differences.size();
  const auto failed = static_cast<std::size_t>(
      std::count_if(differences.begin(), differences.end(), [](double d) { return !std::isfinite(d); }));
  if (failed > 0) return {kNoEnd, failed == n && n > 1 ? kNoEnd : -kNoEnd, kNoEnd};
  if (n < 2) return {n == 1 ? differences.front() : 0, -kNoEnd, kNoEnd};
  const Spread spread = spread_of_finite({differences.begin(), differences.end()});
  const double share = 1 - 0.05 / (2 * tests);
  const double error = spread.deviation / std::sqrt(static_cast<double>(n));
  double half = student_t_quantile(share, static_cast<int>(n) - 1) * error;
  constexpr int many = 1000000;  // degrees of freedom: the quantile of a normal number, to 1e-6
  if (samples > 0) half = std::max(half, student_t_quantile(share, many) * binomial_floor(accuracy, samples));
  return {spread.mean, spread.mean - half, spread.mean + half};
}

std::optional<double> next_position(const SpecAxis& axis, std::vector<SpecTrial> trials, int bisections) {
  const auto tried = [&](double u) {
    return std::any_of(trials.begin(), trials.end(), [u](const SpecTrial& t) { return t.u == u; });
  };
  if (!tried(1)) return 1;
  const Bracket bracket = bracket_of(trials);
  if (!bracket.above) return std::nullopt;
  if (!bracket.below) return tried(0) ? std::nullopt : std::optional<double>(0);
  const double own = axis.own_position();
  const auto inside =
      std::count_if(trials.begin(), trials.end(), [&](const SpecTrial& t) { return t.u > 0 && t.u < 1 && t.u != own; });
  if (inside >= bisections) return std::nullopt;
  const double low = trials[*bracket.below].u, high = trials[*bracket.above].u;
  const double u = axis.position(axis.value(0.5 * (low + high)));
  return u > low && u < high ? std::optional<double>(u) : std::nullopt;  // no whole number lies between
}

SpecLimit spec_limit(const SpecAxis& axis, const std::vector<SpecTrial>& trials) {
  SpecLimit out;
  const std::vector<std::size_t> order = by_position(trials);
  std::optional<std::size_t> bad;
  for (const std::size_t i : order) {
    if (!bad && trials[i].excess.low > 0) bad = i;
    if (!bad && trials[i].excess.high < 0) out.good = axis.value(trials[i].u);
  }
  const Bracket bracket = bracket_of(trials);
  out.at = bracket.below;
  if (!bad) {
    out.outcome = bracket.above ? SpecOutcome::open : SpecOutcome::beyond;
    return out;
  }
  out.bad = axis.value(trials[*bad].u);
  if (!bracket.below) {
    out.outcome = *bad == order.front() ? SpecOutcome::fails : SpecOutcome::open;
    return out;
  }
  out.outcome = SpecOutcome::found;
  const SpecTrial &a = trials[*bracket.below], &b = trials[*bracket.above];
  const double weight = std::isfinite(b.excess.mean) ? -a.excess.mean / (b.excess.mean - a.excess.mean) : 0.5;
  out.value = axis.value(axis.whole ? a.u : a.u + weight * (b.u - a.u));
  return out;
}

SpecLimit::Verdict SpecLimit::verdict(const SpecAxis& axis) const {
  const double own = axis.own_position();
  if (outcome == SpecOutcome::fails || (std::isfinite(bad) && own >= axis.position(bad))) return Verdict::not_met;
  return std::isfinite(good) && own <= axis.position(good) ? Verdict::met : Verdict::open;
}

std::optional<double> SpecLimit::margin(const SpecAxis& axis) const {
  if (outcome != SpecOutcome::found || axis.own == 0 || axis.own_is_ideal()) return std::nullopt;
  const bool up = axis.worst > axis.best;
  if (!axis.logarithmic) return up ? value - axis.own : axis.own - value;
  if (value == 0) return std::nullopt;
  return std::abs(axis.worst) > std::abs(axis.best) ? value / axis.own : axis.own / value;
}

}  // namespace nudge
